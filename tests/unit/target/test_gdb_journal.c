/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A journal has one owner. It outlives an owner that was killed, and a late guard does not remove it from the next owner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/target/gdb/journal.h"

static char key[64]; /* of a machine that no other test has */

static void test_one_owner(void **state)
{
	struct err err = {0};
	bool left;
	struct gdb_journal *j = gdb_journal_open(key, &left, &err), *second;

	(void)state;
	assert_non_null(j);
	assert_false(left);
	second = gdb_journal_open(key, &left, &err);
	assert_null(second);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_int_equal(access(gdb_journal_path(j), F_OK), 0);
	gdb_journal_close(j, true);
}

static void test_left_by_a_killed_owner(void **state)
{
	struct err err = {0};
	bool left;
	struct gdb_journal *j = gdb_journal_open(key, &left, &err);
	struct gdb_planted *planted = gdb_journal_planted(j);

	(void)state;
	planted->gva[planted->count++] = 0xffffffff81000000;
	gdb_journal_close(j, false);
	j = gdb_journal_open(key, &left, &err);
	assert_non_null(j);
	assert_true(left);
	assert_int_equal(gdb_journal_planted(j)->count, 1);
	gdb_journal_close(j, true);
	j = gdb_journal_open(key, &left, &err);
	assert_false(left);
	gdb_journal_close(j, true);
}

static void test_guard_is_late(void **state)
{
	struct err err = {0};
	bool left;
	struct gdb_journal *j = gdb_journal_open(key, &left, &err);
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s", gdb_journal_path(j));
	gdb_journal_close(j, false);
	j = gdb_journal_open(key, &left, &err);
	assert_true(left);
	gdb_journal_remove(path); /* The guard of the first owner, after the second has attached. */
	assert_int_equal(access(path, F_OK), 0);
	gdb_journal_close(j, false);
	gdb_journal_remove(path);
	assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_owner),
		cmocka_unit_test(test_left_by_a_killed_owner),
		cmocka_unit_test(test_guard_is_late),
	};

	snprintf(key, sizeof(key), "test_gdb_journal %d", (int)getpid());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
