// SPDX-License-Identifier: GPL-2.0-or-later
/* Which process the kernel kills first when it runs out of memory, as /proc reports it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/replay/expendable.h"

static int adjustment(pid_t pid)
{
	char path[48];
	int value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &value), 1);
	fclose(file);
	return value;
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	while (pid == 0)
		pause();
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static struct expendable started(void)
{
	struct expendable e = {0};
	struct err err = {0};

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(expendable_start(&e, &err), 0);
	return e;
}

static void children_go_first_and_nobody_else(void **state)
{
	struct expendable e = started();
	pid_t a = sleeper(), b = sleeper();
	int own = adjustment(getpid()), helper = adjustment(e.helper.pid);

	(void)state;
	assert_true(expendable_mark(&e, b));
	assert_int_equal(adjustment(b), 1000);
	assert_int_equal(adjustment(a), own);
	assert_int_equal(adjustment(getpid()), own);
	assert_int_equal(adjustment(e.helper.pid), helper);
	assert_true(expendable_mark(&e, a));
	assert_int_equal(adjustment(a), 1000);
	end(a);
	end(b);
	expendable_stop(&e);
}

static void others_are_left_alone(void **state)
{
	struct expendable e = started();
	int own = adjustment(getpid()), parent = adjustment(getppid());

	(void)state;
	assert_false(expendable_mark(&e, getpid()));
	assert_false(expendable_mark(&e, getppid()));
	assert_false(expendable_mark(&e, 0));
	assert_false(expendable_mark(&e, -1));
	assert_int_equal(adjustment(getpid()), own);
	assert_int_equal(adjustment(getppid()), parent);
	expendable_stop(&e);
}

static void death_of_the_process_is_told(void **state)
{
	struct expendable e = started();
	pid_t child = sleeper();

	(void)state;
	kill(e.helper.pid, SIGKILL);
	assert_false(expendable_mark(&e, child));
	end(child);
	expendable_stop(&e);
	assert_false(expendable_mark(&e, getpid()));
	expendable_stop(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_go_first_and_nobody_else),
		cmocka_unit_test(others_are_left_alone),
		cmocka_unit_test(death_of_the_process_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
