/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines that the host sends to the guest agent. The agent is never built with a sanitizer, so its file is compiled in here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest-agent/protocol.c"

static struct command read_line(const char *line)
{
	struct command c;

	command_read(line, &c);
	return c;
}

static void test_lines_in_any_pieces(void **state)
{
	static const char stream[] = "one\ntwo\r\n\nthree\n";
	static const char *const wanted[] = {"one", "two", "", "three"};

	(void)state;
	for (size_t piece = 1; piece <= sizeof(stream); piece++) {
		struct line_reader reader = {0};
		size_t lines = 0;

		for (size_t at = 0; at < sizeof(stream) - 1;) {
			/* Copy only these bytes, so that a sanitizer sees a read beyond them. */
			size_t n = sizeof(stream) - 1 - at < piece ? sizeof(stream) - 1 - at : piece, used;
			char *part = malloc(n);
			enum line_state what;

			assert_non_null(part);
			memcpy(part, stream + at, n);
			used = line_take(&reader, part, n, &what);
			free(part);
			assert_in_range(used, 1, n);
			at += used;
			if (what == LINE_MORE)
				continue;
			assert_int_equal(what, LINE_WHOLE);
			assert_string_equal(reader.text, wanted[lines++]);
		}
		assert_int_equal(lines, 4);
	}
}

static void test_length_limit(void **state)
{
	char line[LINE_LENGTH + 2];
	struct line_reader reader = {0};
	enum line_state what;

	(void)state;
	memset(line, 'x', sizeof(line));
	line[LINE_LENGTH] = '\n';
	assert_int_equal(line_take(&reader, line, LINE_LENGTH + 1, &what), LINE_LENGTH + 1);
	assert_int_equal(what, LINE_WHOLE);
	assert_int_equal(strlen(reader.text), LINE_LENGTH);
	line[LINE_LENGTH] = 'x';
	line[LINE_LENGTH + 1] = '\n';
	assert_int_equal(line_take(&reader, line, LINE_LENGTH + 2, &what), LINE_LENGTH + 2);
	assert_int_equal(what, LINE_TOO_LONG);
	/* The reader takes the next line after a line that was too long. */
	line_take(&reader, "help\n", 5, &what);
	assert_int_equal(what, LINE_WHOLE);
	assert_string_equal(reader.text, "help");
}

static void test_commands(void **state)
{
	struct command c;

	(void)state;
	assert_int_equal(read_line("help").verb, VERB_HELP);
	assert_int_equal(read_line("workloads").verb, VERB_WORKLOADS);
	assert_int_equal(read_line("  status\t ").verb, VERB_STATUS);
	assert_int_equal(read_line("poweroff").verb, VERB_POWEROFF);
	assert_int_equal(read_line("").verb, VERB_EMPTY);
	assert_int_equal(read_line(" \t").verb, VERB_EMPTY);
	c = read_line("start sh:echo  a b ");
	assert_int_equal(c.verb, VERB_START);
	assert_string_equal(c.argument, "sh:echo  a b ");
	c = read_line("enough busy");
	assert_int_equal(c.verb, VERB_ENOUGH);
	assert_string_equal(c.argument, "busy");
	c = read_line("stop");
	assert_int_equal(c.verb, VERB_STOP);
	assert_int_equal(c.job, 0);
	assert_int_equal(read_line("stop 17").job, 17);
}

static void test_wrong_lines(void **state)
{
	static const char *const lines[] = {
		"hel",	   "helpx",    "HELP",	  "start",	     "start ",	 "enough",	 "stop x",	"stop 0",
		"stop 1x", "stop 1 2", "stop -1", "stop 9999999999", "status 1", "poweroff now", "start\x01 a", "start a\x7f",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct command c = read_line(lines[i]);

		assert_int_equal(c.verb, VERB_BAD);
		assert_true(c.why[0] != '\0');
	}
}

static void test_nul_hides_nothing(void **state)
{
	struct line_reader reader = {0};
	enum line_state what;

	(void)state;
	line_take(&reader, "help\0 me\n", 9, &what);
	assert_int_equal(what, LINE_WHOLE);
	assert_int_equal(read_line(reader.text).verb, VERB_BAD);
}

static void test_garbage(void **state)
{
	struct line_reader reader = {0};
	unsigned lines = 0;

	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		size_t n = 1 + (size_t)rand() % 300;
		char *data = malloc(n);

		assert_non_null(data);
		for (size_t j = 0; j < n; j++)
			data[j] = (char)(rand() % 64 ? rand() : '\n');
		for (size_t at = 0; at < n;) {
			enum line_state what;
			size_t used = line_take(&reader, data + at, n - at, &what);

			assert_in_range(used, 1, n - at);
			at += used;
			if (what != LINE_WHOLE)
				continue;
			assert_in_range(strlen(reader.text), 0, LINE_LENGTH);
			lines += read_line(reader.text).verb == VERB_BAD;
		}
		free(data);
	}
	assert_in_range(lines, 1000, UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_in_any_pieces),
		cmocka_unit_test(test_length_limit),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_wrong_lines),
		cmocka_unit_test(test_nul_hides_nothing),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
