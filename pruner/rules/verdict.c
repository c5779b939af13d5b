// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/rules/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hv/base/clean.h"

const char *verdict_class_word(enum verdict_class class)
{
	static const char *const words[] = {
		[VERDICT_HARMFUL] = "harmful candidate",
		[VERDICT_UNCLEAR] = "unclear",
		[VERDICT_SYNCHRONISATION] = "synchronisation",
		[VERDICT_BENIGN] = "benign",
	};

	return words[class];
}

void verdict_evidence(struct verdict *out, const char *fmt, ...)
{
	size_t used = strlen(out->evidence);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out->evidence + used, sizeof(out->evidence) - used, fmt, ap);
	va_end(ap);
	clean_field(out->evidence, sizeof(out->evidence));
}
