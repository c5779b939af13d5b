// SPDX-License-Identifier: GPL-2.0-or-later
/* Words of a command as a shell takes them. Each is read back by a real shell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/shell_word.h"

static void expect(const char *word, size_t most, const char *wanted)
{
	char *text = shell_word_copy(word, most);

	assert_non_null(text);
	assert_string_equal(text, wanted);
	free(text);
}

static void test_quotes(void **state)
{
	(void)state;
	expect("--vcpus=2", SIZE_MAX, "--vcpus=2");
	expect("", SIZE_MAX, "''");
	expect("console=ttyS0 root=/dev/vda", SIZE_MAX, "'console=ttyS0 root=/dev/vda'");
	expect("it's", SIZE_MAX, "'it'\\''s'");
	expect("~", SIZE_MAX, "'~'");
}

static void test_long_words_say_that_they_are_cut(void **state)
{
	(void)state;
	expect("abcd", 4, "abcd");
	expect("abcde", 4, "'abcd...'");
	expect("a b'c", 4, "'a b'\\''...'");
}

static void test_a_shell_reads_the_word(void **state)
{
	static const char *const words[] = {"", "a b", "'", "''", "$(false)", "`false`", "a\nb", "\\", "*", "a\"b", "#", "!x"};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char *text = shell_word_copy(words[i], SIZE_MAX), command[128], read[64];
		FILE *shell;
		size_t n;

		snprintf(command, sizeof(command), "printf %%s %s", text);
		free(text);
		shell = popen(command, "r");
		assert_non_null(shell);
		n = fread(read, 1, sizeof(read) - 1, shell);
		read[n] = '\0';
		assert_int_equal(pclose(shell), 0);
		assert_string_equal(read, words[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_long_words_say_that_they_are_cut),
		cmocka_unit_test(test_a_shell_reads_the_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
