// SPDX-License-Identifier: GPL-2.0-or-later
/* Long paths lose whole folders of their middle, and say so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/path_text.h"

static void expect(const char *path, const char *wanted)
{
	char out[PATH_TEXT_MAX];

	path_text(path, out);
	assert_string_equal(out, wanted);
}

/* Write `begin`, then `n` times "folder/", then `end`. */
static void make(char out[1024], const char *begin, unsigned n, const char *end)
{
	size_t used = (size_t)snprintf(out, 1024, "%s", begin);

	for (unsigned i = 0; i < n; i++)
		used += (size_t)snprintf(out + used, 1024 - used, "folder/");
	snprintf(out + used, 1024 - used, "%s", end);
}

static void test_whole_paths(void **state)
{
	char path[1024];

	(void)state;
	expect("", "");
	expect("drivers/gpu/drm/amd/display/dc/dml2/display_mode_core.c",
	       "drivers/gpu/drm/amd/display/dc/dml2/display_mode_core.c");
	make(path, "/", 22, "file.c");
	path[PATH_TEXT_MAX - 1] = '\0';
	expect(path, path);
}

static void test_long_paths_lose_folders_in_the_middle(void **state)
{
	char path[1024], wanted[1024];

	(void)state;
	make(path, "/usr/src/", 40, "net/nic.c");
	make(wanted, "/usr/src/folder/folder/folder/folder/...", 0, "/");
	make(wanted + strlen(wanted), "", 15, "net/nic.c");
	expect(path, wanted);
}

static void test_a_long_name(void **state)
{
	char path[1024], out[PATH_TEXT_MAX];

	(void)state;
	memset(path, 'x', 400);
	strcpy(path + 400, ".c");
	path_text(path, out);
	assert_int_equal(strlen(out), PATH_TEXT_MAX - 1);
	assert_memory_equal(out, "...x", 4);
	assert_string_equal(out + strlen(out) - 3, "x.c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_paths),
		cmocka_unit_test(test_long_paths_lose_folders_in_the_middle),
		cmocka_unit_test(test_a_long_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
