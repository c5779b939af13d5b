// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/explore/message.h"

#include <stdarg.h>
#include <stdio.h>

void explore_say(const struct explore_config *config, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (!config->message)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	config->message(config->ctx, line);
}
