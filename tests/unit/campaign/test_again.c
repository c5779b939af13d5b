// SPDX-License-Identifier: GPL-2.0-or-later
/* The command that aims at a race, made from the command of the run that saw it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "hv/campaign/list/again.h"

static void the_command_aims_and_overwrites_nothing(void **state)
{
	static const struct {
		const char *command, *expected;
	} cases[] = {
		{"cd /c && outrider run --kernel k --json /r/races.json --seed 7 --coverage /r/coverage.json --console "
		 "/r/console.log",
		 "cd /c && outrider run --kernel k --seed 7 --aim '/r/races.json#0123456789ab' --json again.json"},
		{"cd /c && outrider run --prefer '/a b/prefer.json' --append '-- a:60 --json'",
		 "cd /c && outrider run --append '-- a:60 --json' --aim '/r/races.json#0123456789ab' --json again.json"},
		{"outrider run --append 'it'\\''s --prefer x' --cpus 2",
		 "outrider run --append 'it'\\''s --prefer x' --cpus 2 --aim '/r/races.json#0123456789ab' --json again.json"},
		{"outrider run --json", "outrider run --aim '/r/races.json#0123456789ab' --json again.json"},
		{"", "--aim '/r/races.json#0123456789ab' --json again.json"},
		/* what no runner writes, but a foreign store may have */
		{"outrider run 'open --json x",
		 "outrider run 'open --json x --aim '/r/races.json#0123456789ab' --json again.json"},
		{"a \\", "a \\ --aim '/r/races.json#0123456789ab' --json again.json"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *again = again_command(cases[i].command, "/r", "0123456789ab");

		assert_non_null(again);
		assert_string_equal(again, cases[i].expected);
		free(again);
	}
}

static void a_folder_is_one_word(void **state)
{
	char *again = again_command("outrider run", "/it's here", "0123456789ab");

	(void)state;
	assert_non_null(again);
	assert_string_equal(again, "outrider run --aim '/it'\\''s here/races.json#0123456789ab' --json again.json");
	free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_command_aims_and_overwrites_nothing),
		cmocka_unit_test(a_folder_is_one_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
