// SPDX-License-Identifier: GPL-2.0-or-later
/* Cleaning of text that others wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/clean.h"
#include "hv/base/err.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void test_text(void **state)
{
	static const struct {
		const char *text, *clean;
	} cases[] = {
		{"", ""},
		{"plain text_1+0x1c [m]", "plain text_1+0x1c [m]"},
		{"\x1b[2J", "\\x1b[2J"},
		{"two\nlines\r\t", "two\\x0alines\\x0d\\x09"},
		{"\xff\xc3(\x7f", "\\xff\\xc3(\\x7f"},
		{"\xc3\xa9", "\\xc3\\xa9"},
		{"a\\b", "a\\x5cb"},
		{"\\", "\\x5c"},
		{"\\x1", "\\x5cx1"},
		{"\\xzz", "\\x5cxzz"},
		{"\\x1b\\x5c", "\\x1b\\x5c"},
	};
	char out[64], again[64];

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		clean_text(cases[i].text, strlen(cases[i].text), out, sizeof(out));
		assert_string_equal(out, cases[i].clean);
		clean_text(out, sizeof(out), again, sizeof(again));
		assert_string_equal(again, out);
	}
	clean_text("end\0behind", 10, out, sizeof(out));
	assert_string_equal(out, "end");
	clean_text("no end", 4, out, sizeof(out));
	assert_string_equal(out, "no e");
}

static void test_cut_between_characters(void **state)
{
	char out[16], *copy;

	(void)state;
	clean_text("1234567", 7, out, 5);
	assert_string_equal(out, "1234");
	clean_text("1\x01z", 3, out, 6);
	assert_string_equal(out, "1\\x01");
	clean_text("1\x01z", 3, out, 5);
	assert_string_equal(out, "1");
	clean_text("1\\x01z", 6, out, 5);
	assert_string_equal(out, "1");
	clean_text("x", 1, out, 1);
	assert_string_equal(out, "");
	copy = clean_copy("\x01\x02", SIZE_MAX);
	assert_string_equal(copy, "\\x01\\x02");
	free(copy);
}

static void test_back(void **state)
{
	char clean[CLEAN_MAX(8)], back[8];

	(void)state;
	clean_text("a\\\x01z\xfe", 8, clean, sizeof(clean));
	unclean_text(clean, back, sizeof(back));
	assert_string_equal(back, "a\\\x01z\xfe");
	unclean_text("\\x", back, sizeof(back));
	assert_string_equal(back, "\\x");
	unclean_text("123456789", back, sizeof(back));
	assert_string_equal(back, "1234567");
}

static void test_field(void **state)
{
	char full[8] = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}, hostile[8] = "\x1b\x1b";

	(void)state;
	clean_field(full, sizeof(full));
	assert_string_equal(full, "abcdefg");
	clean_field(hostile, sizeof(hostile));
	assert_string_equal(hostile, "\\x1b");
}

static void test_line(void **state)
{
	static const struct {
		const char *line, *clean;
	} cases[] = {
		{"cannot open /home/J\xc3\xbcrgen/\xe6\x96\x87\xe4\xbb\xb6: back\\slash", NULL},
		{"\xf0\x9f\x90\x8e", NULL},
		{"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
		{"a\nBUG: KCSAN: forged", "a\\x0aBUG: KCSAN: forged"},
		{"\xc2\x9b"
		 "2J",
		 "\\xc2\\x9b"
		 "2J"},
		{"\xe2\x80\xae"
		 "gpj.exe",
		 "\\xe2\\x80\\xae"
		 "gpj.exe"},
		{"\xef\xbb\xbf", "\\xef\\xbb\\xbf"},
		{"\xc0\xaf \xed\xa0\x80 \xf5\x80\x80\x80 \xe2\x82",
		 "\\xc0\\xaf \\xed\\xa0\\x80 \\xf5\\x80\\x80\\x80 \\xe2\\x82"},
	};
	char text[128];

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		strcpy(text, cases[i].line);
		clean_line(text, sizeof(text));
		assert_string_equal(text, cases[i].clean ? cases[i].clean : cases[i].line);
	}
	strcpy(text, "12\xc3\xbc");
	clean_line(text, 4);
	assert_string_equal(text, "12");
}

static void test_error_is_one_line(void **state)
{
	struct err err = {0};

	(void)state;
	err_set(&err, EXIT_INPUT, "%s: no such file", "\x1b[2Ja\nb");
	assert_string_equal(err.text, "\\x1b[2Ja\\x0ab: no such file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text), cmocka_unit_test(test_cut_between_characters),
		cmocka_unit_test(test_back), cmocka_unit_test(test_field),
		cmocka_unit_test(test_line), cmocka_unit_test(test_error_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
