/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of the race that one observation makes, and what must be in it. */
#ifndef OUTRIDER_TESTS_REPORT_TEXT_OF_H
#define OUTRIDER_TESTS_REPORT_TEXT_OF_H

#include <stdlib.h>
#include <string.h>

#include "hv/report/text/text.h"
#include "tests/unit/report/sample.h"

static const struct text_style plain;

/* The caller frees the text. */
char *text_of_race(const struct observation *o, const struct text_style *style);

static inline void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static inline void first_line(char *text, const char *expected)
{
	char *end = strchr(text, '\n');

	assert_non_null(end);
	*end = '\0';
	assert_string_equal(text, expected);
	*end = '\n';
}

#endif
