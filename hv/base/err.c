/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/base/err.h"

#include <stdarg.h>
#include <stdio.h>

#include "hv/base/clean.h"

int err_set(struct err *e, enum exit_code code, const char *fmt, ...)
{
	if (e && e->code == EXIT_OK) {
		va_list ap;

		e->code = code;
		va_start(ap, fmt);
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
		va_end(ap);
		clean_line(e->text, sizeof(e->text));
	}
	return -1;
}
