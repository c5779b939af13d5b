// SPDX-License-Identifier: GPL-2.0-or-later
/* What ends a run from outside the guest. After that, no thread waits for a reader of its output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/session/stopper.h"

#define MS UINT64_C(1000000)
#define HOUR (UINT64_C(3600000) * MS)
#define LONG_TEXT (1u << 20) /* bytes; more than a pipe holds */

/* A machine that runs until it is stopped. */
struct machine {
	struct engine engine;
	atomic_bool stopped, ready;
	_Atomic uint64_t elapsed_ns;
};

static struct machine machine;
static struct terminal terminal;

static void stop_machine(struct engine *e)
{
	(void)e;
	machine.stopped = true;
}

static uint64_t elapsed(void *ctx)
{
	return ((struct machine *)ctx)->elapsed_ns;
}

static bool is_ready(void *ctx)
{
	return ((struct machine *)ctx)->ready;
}

/* Run the machine with these limits until it stops. Returns the reason. Sends `signal` to this process; 0: sends none. */
static enum stop_reason stopped_by(struct stopper_config config, int signal)
{
	static const struct engine_ops ops = {.stop = stop_machine};
	struct screen *screen = screen_new(NULL);
	struct stopper *stopper;
	enum stop_reason reason;

	machine.engine = (struct engine){.ops = &ops, .stopping = "stopping the machine"};
	machine.stopped = false;
	config.engine = &machine.engine;
	config.terminal = &terminal;
	config.elapsed_ns = elapsed;
	config.is_ready = is_ready;
	config.ctx = &machine;
	screen_set_quiet(screen);
	stopper = stopper_start(&config, NULL);
	assert_non_null(stopper);
	assert_true(stopper_running(stopper, screen));
	if (signal)
		kill(getpid(), signal);
	while (!machine.stopped)
		sched_yield();
	reason = stopper_ending(stopper);
	stopper_closing(stopper);
	stopper_finish(stopper);
	screen_free(screen);
	return reason;
}

/* A limit of an hour is one that the test does not reach. */
static void limits(void **state)
{
	(void)state;
	machine.ready = false;
	machine.elapsed_ns = 0;
	assert_int_equal(stopped_by((struct stopper_config){.wait_kernel_ns = MS, .duration_ns = MS}, 0), STOP_NO_KERNEL);
	assert_int_equal(stopped_by((struct stopper_config){.wait_kernel_ns = HOUR, .timeout_ns = MS}, 0), STOP_TIMEOUT);
	assert_int_equal(stopped_by((struct stopper_config){.wait_kernel_ns = HOUR, .timeout_ns = HOUR}, SIGTERM), STOP_SIGNAL);
	/* Once the kernel is found, --wait-kernel no longer ends the run. */
	machine.ready = true;
	assert_int_equal(stopped_by((struct stopper_config){.wait_kernel_ns = MS, .timeout_ns = 300 * MS}, 0), STOP_TIMEOUT);
	machine.elapsed_ns = 2 * MS;
	assert_int_equal(stopped_by((struct stopper_config){.wait_kernel_ns = MS, .duration_ns = 2 * MS}, 0), STOP_DURATION);
}

struct reader {
	int fd;
	size_t len;
	char *text;
};

static void *read_all(void *arg)
{
	struct reader *r = arg;
	ssize_t n;

	while ((n = read(r->fd, r->text + r->len, 2 * LONG_TEXT - r->len)) > 0)
		r->len += (size_t)n;
	return NULL;
}

/* Output that its reader has not taken when the run is to end is written later, in order. No thread waits for the reader
 * meanwhile. */
static void output_is_kept(void **state)
{
	struct screen *screen = screen_new(NULL);
	struct reader reader = {.text = malloc(2 * LONG_TEXT)};
	char *text = malloc(LONG_TEXT);
	int ends[2], saved = dup(STDOUT_FILENO), failed;
	pthread_t thread;
	struct err err = {0};

	(void)state;
	assert_true(screen && reader.text && text);
	for (unsigned i = 0; i < LONG_TEXT; i++)
		text[i] = (char)('a' + i % 23);
	text[LONG_TEXT - 1] = '\n';
	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	screen_hurry(screen);
	screen_report(screen, text, LONG_TEXT);
	screen_report(screen, "last\n", 5);
	reader.fd = ends[0];
	failed = pthread_create(&thread, NULL, read_all, &reader) || screen_check(screen, &err);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	assert_int_equal(failed, 0);
	pthread_join(thread, NULL);
	close(ends[0]);
	assert_int_equal(reader.len, LONG_TEXT + 5);
	assert_memory_equal(reader.text, text, LONG_TEXT);
	assert_memory_equal(reader.text + LONG_TEXT, "last\n", 5);
	screen_free(screen);
	free(reader.text);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits),
		cmocka_unit_test(output_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
