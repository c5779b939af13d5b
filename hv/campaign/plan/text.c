// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps strings that are freed together. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "hv/base/grow.h"
#include "hv/campaign/plan/internal.h"

char *plan_copy(struct plan_text *t, char *string, struct err *err)
{
	char **place = string ? list_grow(&t->list, &t->count, sizeof(*place), err) : NULL;

	if (place)
		return *place = string;
	free(string);
	err_set(err, EXIT_INTERNAL, "out of memory");
	return NULL;
}

char *plan_printf(struct plan_text *t, struct err *err, const char *fmt, ...)
{
	char *string = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&string, fmt, ap) < 0)
		string = NULL;
	va_end(ap);
	return plan_copy(t, string, err);
}

void plan_text_free(struct plan_text *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->list[i]);
	free(t->list);
}
