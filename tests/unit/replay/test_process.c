// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes that run copies: what they pass on, and what the run does when a process dies or does not end. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/replay/process.h"

static int count(void *ctx, struct err *err)
{
	(void)err;
	++*(int *)ctx;
	return 0;
}

static int refuse(void *ctx, struct err *err)
{
	(void)ctx;
	return err_set(err, EXIT_INPUT, "the disk is full");
}

/* A guest that has taken over the process may leave any bytes. */
static int leave_rubbish(void *ctx, struct err *err)
{
	(void)ctx;
	memset(err->text, '\033', sizeof(err->text));
	err->code = (enum exit_code)99;
	return -1;
}

static int die(void *ctx, struct err *err)
{
	(void)ctx;
	(void)err;
	raise(SIGKILL);
	return 0;
}

static int hang(void *ctx, struct err *err)
{
	(void)ctx;
	(void)err;
	while (pause())
		;
	return 0;
}

static void what_is_shared_is_handed_on(void **state)
{
	int *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct err err = {0};

	(void)state;
	assert_int_equal(process_run(count, shared, 0, &err), 0);
	assert_int_equal(process_run(count, shared, 600, &err), 0);
	assert_int_equal(err.code, EXIT_OK);
	assert_int_equal(*shared, 2);
	munmap(shared, sizeof(*shared));
}

static void an_error_is_handed_on(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(process_run(refuse, NULL, 0, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_string_equal(err.text, "the disk is full");
}

static void an_error_is_not_trusted(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(process_run(leave_rubbish, NULL, 0, &err), -1);
	assert_int_equal(err.code, EXIT_INTERNAL);
	assert_true(strlen(err.text) < sizeof(err.text));
	assert_null(strchr(err.text, '\033'));
}

static void a_death_is_told(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(process_run(die, NULL, 0, &err), -1);
	assert_string_equal(err.text, "the process of a copy died or took too long");
}

static void what_does_not_end_is_ended(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(process_run(hang, NULL, 1, &err), -1);
	assert_string_equal(err.text, "the process of a copy died or took too long");
}

static void end_is_waited_for_within_limits(void **state)
{
	pid_t hangs = fork(), ends = hangs ? fork() : -1;

	(void)state;
	if (!hangs)
		hang(NULL, NULL);
	if (!ends)
		_exit(0);
	assert_true(hangs > 0 && ends > 0);
	assert_true(process_ended_within(ends, 600000));
	assert_false(process_ended_within(hangs, 20));
	kill(hangs, SIGKILL);
	assert_true(process_ended_within(hangs, 600000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(end_is_waited_for_within_limits),
		cmocka_unit_test(what_is_shared_is_handed_on),
		cmocka_unit_test(an_error_is_handed_on),
		cmocka_unit_test(an_error_is_not_trusted),
		cmocka_unit_test(a_death_is_told),
		cmocka_unit_test(what_does_not_end_is_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
