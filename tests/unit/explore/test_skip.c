// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of trials to leave out: what is found in it, and files that are no lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/explore/explore.h"

#define PATH_TEMPLATE "/tmp/outrider-skip-XXXXXX"

static const char ours[2][SITE_NAME_MAX] = {"vfs_read+0x1c", "gt:gt_put+0xc"};
static const char swapped[2][SITE_NAME_MAX] = {"gt:gt_put+0xc", "vfs_read+0x1c"};

/* Read a list with this text. Returns the result of explore_skip_read(). */
static int list(const char *text, struct explore_skip *s, struct err *err)
{
	char path[] = PATH_TEMPLATE;
	int fd = mkstemp(path), rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	*err = (struct err){0};
	rc = explore_skip_read(s, path, err);
	unlink(path);
	return rc;
}

static void only_its_trials_are_skipped(void **state)
{
	struct explore_skip s;
	struct err err;

	(void)state;
	assert_int_equal(list("aabb vfs_read+0x1c gt:gt_put+0xc pause-b\naabb vfs_read+0x1c gt:gt_put+0xc flip-a\n", &s, &err),
			 0);
	assert_true(explore_skips(&s, "aabb", ours, EXPLORE_FLIP_A));
	assert_true(explore_skips(&s, "aabb", ours, EXPLORE_PAUSE_B));
	assert_false(explore_skips(&s, "aabb", ours, EXPLORE_FLIP_B));
	/* The first site is that of A: the same two sites the other way round are another candidate. */
	assert_false(explore_skips(&s, "aabb", swapped, EXPLORE_FLIP_A));
	/* In another build, the same offset can be another instruction. */
	assert_false(explore_skips(&s, "aabc", ours, EXPLORE_FLIP_A));
	assert_false(explore_skips(&s, "", ours, EXPLORE_FLIP_A));
	explore_skip_free(&s);
}

static void an_empty_list_skips_nothing(void **state)
{
	struct explore_skip s;
	struct err err;

	(void)state;
	assert_int_equal(list("", &s, &err), 0);
	assert_false(explore_skips(&s, "aabb", ours, EXPLORE_FLIP_A));
	explore_skip_free(&s);
}

static void other_files_are_refused(void **state)
{
	static const char *const wrong[] = {"aabb vfs_read+0x1c flip-a\n", "\n", "aabb a+0x1 b+0x1 flip-a x\n"};
	struct explore_skip s;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(list(wrong[i], &s, &err), -1);
		assert_int_equal(err.code, EXIT_INPUT);
		assert_non_null(strstr(err.text, "line 1 is no trial"));
		explore_skip_free(&s);
	}
	err = (struct err){0};
	assert_int_equal(explore_skip_read(&s, "/nonexistent/list", &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	explore_skip_free(&s);
}

static void a_site_is_named_as_in_a_report(void **state)
{
	const struct explore_side in_module = {.access = {.pc = 0x1020},
					       .symbol = {.module = "gt", .name = "gt_put", .addr = 0x1000}};
	char name[SITE_NAME_MAX];

	(void)state;
	explore_site_name(&in_module, 0, name);
	assert_string_equal(name, "gt:gt_put+0x20");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_its_trials_are_skipped),
		cmocka_unit_test(an_empty_list_skips_nothing),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(a_site_is_named_as_in_a_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
