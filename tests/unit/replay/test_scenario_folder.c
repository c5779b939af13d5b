// SPDX-License-Identifier: GPL-2.0-or-later
/* The folder of scenarios: a whole scenario gets a name, and a partial scenario leaves no file. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/base/x86.h"
#include "hv/session/scenario_folder.h"
#include "tests/unit/replay/scenario_made.h"

static char top[] = "/tmp/test-scenario-folder-XXXXXX", path[64];
static struct scenario_folder folder;

static int open_folder(void **state)
{
	(void)state;
	memcpy(top + sizeof(top) - 7, "XXXXXX", 6);
	if (!mkdtemp(top))
		return -1;
	snprintf(path, sizeof(path), "%s/kept", top);
	return scenario_folder_open(&folder, path, NULL);
}

/* Return the number of files in the folder whose names end with `end`. */
static unsigned files(const char *end)
{
	DIR *d = opendir(path);
	const struct dirent *e;
	unsigned n = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (e->d_name[0] != '.' && len >= strlen(end) && strcmp(e->d_name + len - strlen(end), end) == 0)
			n++;
	}
	closedir(d);
	return n;
}

static void remove_file(const char *name)
{
	char file[128];

	snprintf(file, sizeof(file), "%s/%s", path, name);
	assert_int_equal(unlink(file), 0);
}

/* Remove the folder: the tests have removed all files that it may have. */
static int close_folder(void **state)
{
	(void)state;
	scenario_folder_close(&folder);
	return rmdir(path) < 0 || rmdir(top) < 0;
}

static int write_made(unsigned index, struct err *err)
{
	struct scenario s;
	int rc;

	assert_int_equal(scenario_made(&s, err), 0);
	for (size_t i = 0; i < 64 * X86_PAGE_SIZE; i++)
		s.ram.host[i] = (uint8_t)(i * i >> 7);
	rc = scenario_write(scenario_folder_fd(&folder, index), &s, err);
	scenario_close(&s);
	return rc;
}

static bool take(unsigned index, enum replay_kept kind)
{
	struct err err = {0};
	bool kept;

	assert_int_equal(scenario_folder_take(&folder, index, "0123456789ab", kind, &kept, &err), 0);
	return kept;
}

static void what_is_whole_gets_its_name(void **state)
{
	struct scenario s;
	char file[128];

	(void)state;
	assert_int_equal(files(".scenario"), 0);
	assert_int_equal(write_made(0, NULL), 0);
	assert_int_equal(write_made(1, NULL), 0);
	assert_int_equal(files(".scenario"), 0);
	assert_true(take(1, REPLAY_KEPT_STATE_CHANGE));
	assert_true(take(0, REPLAY_KEPT_ORDER_CRASHES));
	assert_int_equal(files(".scenario"), 2);
	snprintf(file, sizeof(file), "%s/0123456789ab-state-change.scenario", path);
	assert_int_equal(scenario_open(file, &s, NULL), 0);
	scenario_close(&s);
	/* The files for the next copies are empty, whatever they had before. */
	assert_false(take(0, REPLAY_KEPT_STATE_CHANGE));
	assert_false(take(1, REPLAY_KEPT_STATE_CHANGE));
	assert_int_equal(write_made(1, NULL), 0);
	assert_true(take(1, REPLAY_KEPT_STATE_CHANGE));
	assert_int_equal(files(".scenario"), 2);
	remove_file("0123456789ab-state-change.scenario");
	remove_file("0123456789ab-order-crashes.scenario");
}

static void what_is_named_by_the_caller_is_kept(void **state)
{
	struct err err = {0};
	bool kept;

	(void)state;
	assert_int_equal(scenario_folder_take_as(&folder, 0, "mine.scenario", &kept, &err), 0);
	assert_false(kept);
	assert_int_equal(write_made(0, NULL), 0);
	assert_int_equal(scenario_folder_take_as(&folder, 0, "mine.scenario", &kept, &err), 0);
	assert_true(kept);
	assert_int_equal(files("mine.scenario"), 1);
	assert_false(take(0, REPLAY_KEPT_STATE_CHANGE));
	remove_file("mine.scenario");
}

/* A copy that dies has reported no result, and may have written a part of its scenario. */
static void what_a_dead_copy_left_is_thrown_away(void **state)
{
	(void)state;
	assert_int_equal(write(scenario_folder_fd(&folder, 0), "half", 4), 4);
	assert_false(take(0, REPLAY_KEPT_NOTHING));
	assert_int_equal(lseek(scenario_folder_fd(&folder, 0), 0, SEEK_END), 0);
	assert_int_equal(write_made(0, NULL), 0);
	assert_true(take(0, REPLAY_KEPT_FAILURE));
	remove_file("0123456789ab-replay-failure.scenario");
}

static void no_room_leaves_no_file(void **state)
{
	const struct rlimit small = {.rlim_cur = 2048, .rlim_max = RLIM_INFINITY};
	struct rlimit was;
	struct err err = {0};
	int rc;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	rc = write_made(0, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(rc, -1);
	assert_false(take(0, REPLAY_KEPT_STATE_CHANGE));
	assert_int_equal(files(".scenario"), 0);
}

static void a_file_is_no_folder(void **state)
{
	struct scenario_folder other;
	struct err err = {0};
	char wanted[128];

	(void)state;
	snprintf(wanted, sizeof(wanted), "cannot keep scenarios in %s/file: it is not a folder", path);
	snprintf(path + strlen(path), 6, "/file");
	fclose(fopen(path, "w"));
	assert_int_equal(scenario_folder_open(&other, path, &err), -1);
	scenario_folder_close(&other);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_string_equal(err.text, wanted);
	assert_int_equal(unlink(path), 0);
	path[strlen(path) - 5] = '\0';
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, open_folder, close_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_whole_gets_its_name),
		TEST(what_is_named_by_the_caller_is_kept),
		TEST(what_a_dead_copy_left_is_thrown_away),
		TEST(no_room_leaves_no_file),
		TEST(a_file_is_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
