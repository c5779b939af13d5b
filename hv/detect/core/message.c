// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats messages to the user, and passes them to the sink (message.h). */
#include "hv/detect/core/message.h"

#include <stdarg.h>
#include <stdio.h>

#include "hv/detect/core/state.h"

void detect_message(struct detect *d, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (d->sink.message)
		d->sink.message(d->sink.ctx, line);
}
