// SPDX-License-Identifier: GPL-2.0-or-later
/* Who has a round's folder: one living process, and nothing that a killed one has left. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/campaign/runner/spool.h"

static char root[] = "/tmp/test-campaign-spool-XXXXXX";

static int open_round(void)
{
	struct spool s;
	struct err err = {0};
	int code = spool_open(&s, root, "0123", "", &err) < 0 ? err.code : EXIT_OK;

	spool_close(&s);
	return code;
}

/* A process that has the round open, and a child of its own that says so and lives until `life` is closed. */
static pid_t start_runner(int ready[2], int life[2])
{
	struct spool s;
	struct err err = {0};
	pid_t runner = fork();
	char byte = 0;

	if (runner)
		return runner;
	close(life[1]);
	if (spool_open(&s, root, "0123", "", &err) < 0)
		_exit(1);
	if (fork())
		pause();
	if (write(ready[1], &byte, 1) != 1 || read(life[0], &byte, 1) != 0)
		_exit(1);
	_exit(0);
}

static void test_killed_runner_leaves_no_lock(void **state)
{
	int ready[2], life[2];
	pid_t runner;
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(life), 0);
	runner = start_runner(ready, life);
	assert_true(runner > 0);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(open_round(), EXIT_INPUT);
	kill(runner, SIGKILL);
	assert_int_equal(waitpid(runner, NULL, 0), runner);
	assert_int_equal(open_round(), EXIT_OK);
	close(life[0]);
	close(life[1]);
	close(ready[0]);
}

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_runner_leaves_no_lock),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
