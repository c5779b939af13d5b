// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/report/report_text_of.h"

char *text_of_race(const struct observation *o, const struct text_style *style)
{
	struct race_store *s = race_store_new(NULL);
	bool is_new;
	const struct race *race = race_store_add(s, o, &is_new, NULL);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(race);
	text_race(out, race, style);
	fclose(out);
	race_store_free(s);
	assert_int_equal(strlen(text), len);
	return text;
}
