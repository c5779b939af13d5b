// SPDX-License-Identifier: GPL-2.0-or-later
/* A run that is asked to end while its machine is started: before there is a program that could be asked. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/campaign/runner/child.h"

#define LOOKS 12000 /* at what takes some milliseconds */

static void look_again(void)
{
	const struct timespec pause = {.tv_nsec = 5000000};

	nanosleep(&pause, NULL);
}

static char folder[] = "/tmp/test-campaign-child-XXXXXX";

static void path_of(const char *name, char path[64])
{
	snprintf(path, 64, "%s/%s", folder, name);
}

static void make(const char *name)
{
	char path[64];
	FILE *out;

	path_of(name, path);
	out = fopen(path, "w");
	assert_non_null(out);
	fclose(out);
}

static bool wait_for(const char *name)
{
	char path[64];
	int looks = 0;

	path_of(name, path);
	while (access(path, F_OK) < 0 && looks++ < LOOKS)
		look_again();
	return looks < LOOKS;
}

/* In the supervisor, which has no descriptor of the test: wait until the test has asked the run to end. */
static int prepare(void *ctx, struct err *err)
{
	(void)ctx;
	make("begun");
	return wait_for("go-on") ? 0 : err_set(err, EXIT_INTERNAL, "the test does not go on");
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static void clear_folder(void)
{
	static const char *const names[] = {"begun", "go-on", "stdout.log", "stderr.log"};
	char path[64];

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_of(names[i], path);
		unlink(path);
	}
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

/* Start `sh -c SCRIPT`, ask it to end while it is prepared, if it is to be asked, and wait for its end. Returns its status. */
static int status_of(char *script, bool asked)
{
	char shell[] = "/bin/sh", option[] = "-c", *argv[] = {shell, option, script, NULL};
	const struct plan_limits limits = {0};
	const struct child_config config = {.argv = argv, .folder = folder, .limits = &limits, .prepare = prepare};
	struct cgroup_base nowhere = {0};
	struct child c;
	struct err err = {0};
	int status;

	assert_int_equal(child_start(&c, &nowhere, &config, &err), 0);
	assert_true(wait_for("begun"));
	if (asked)
		child_terminate(&c);
	make("go-on");
	for (int i = 0; !child_is_over(&c); i++) {
		assert_true(i < LOOKS);
		look_again();
	}
	status = c.status;
	assert_true(c.ended && !c.lost);
	child_free(&c);
	clear_folder();
	return status;
}

static void test_asked_while_it_is_prepared(void **state)
{
	char script[] = "while sleep 1; do :; done";
	int status = status_of(script, true);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

static void test_not_asked(void **state)
{
	char script[] = "exit 7";
	int status = status_of(script, false);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asked_while_it_is_prepared),
		cmocka_unit_test(test_not_asked),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
