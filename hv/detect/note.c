// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/detect/note.h"

#include <stdarg.h>
#include <stdio.h>

#include "hv/detect/state.h"

void detect_note(struct detect *d, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (d->sink.note)
		d->sink.note(d->sink.ctx, line);
}
