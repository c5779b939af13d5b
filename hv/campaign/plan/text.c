// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps strings that are freed together. */
#include <stdlib.h>

#include "hv/campaign/plan/internal.h"

char *plan_copy(struct plan_text *t, char *string, struct err *err)
{
	char **list = string ? realloc(t->list, (t->count + 1) * sizeof(*list)) : NULL;

	if (!list) {
		free(string);
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	t->list = list;
	t->list[t->count++] = string;
	return string;
}

void plan_text_free(struct plan_text *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->list[i]);
	free(t->list);
}
