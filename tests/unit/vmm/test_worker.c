/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads for device I/O: which descriptors they watch, and that a pause waits for the running callback. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/base/clock.h"
#include "hv/sandbox/sandbox.h"
#include "hv/vmm/virtio/worker.h"

struct bench {
	struct workers all;
	struct worker *worker;
	int fd[2];
	atomic_uint calls[2];
	atomic_bool stay; /* a callback does not return while this is set */
	atomic_bool inside;
	bool blocked; /* all signals are blocked on the worker's thread */
	char name[16];
};

struct ctx {
	struct bench *b;
	unsigned which;
};

static struct bench bench;
static struct ctx ctx[2] = {{&bench, 0}, {&bench, 1}};

static void on_ready(void *arg, uint32_t events)
{
	struct ctx *c = arg;
	uint64_t count;

	assert_int_equal(events, EPOLLIN);
	c->b->inside = true;
	assert_int_equal(read(c->b->fd[c->which], &count, sizeof(count)), sizeof(count));
	while (c->b->stay)
		sched_yield();
	c->b->inside = false;
	c->b->calls[c->which]++;
}

/* A callback that unwatches its own descriptor. */
static void on_ready_once(void *arg, uint32_t events)
{
	struct ctx *c = arg;

	worker_unwatch(c->b->worker, c->b->fd[c->which]);
	on_ready(arg, events);
}

static void look_at_thread(void *arg, uint32_t events)
{
	struct ctx *c = arg;
	sigset_t set;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	c->b->blocked = sigismember(&set, SIGINT) && sigismember(&set, SIGTERM) && sigismember(&set, SIGRTMIN + 1);
	pthread_getname_np(pthread_self(), c->b->name, sizeof(c->b->name));
	on_ready(arg, events);
}

static int setup(void **state)
{
	(void)state;
	memset(&bench, 0, sizeof(bench));
	workers_init(&bench.all, NULL);
	bench.worker = worker_new(&bench.all, SANDBOX_BLK, "a name that is too long", NULL);
	assert_non_null(bench.worker);
	for (unsigned i = 0; i < 2; i++) {
		bench.fd[i] = eventfd(0, EFD_CLOEXEC);
		assert_true(bench.fd[i] >= 0);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bench.stay = false;
	workers_join(&bench.all);
	worker_free(bench.worker);
	workers_destroy(&bench.all);
	close(bench.fd[0]);
	close(bench.fd[1]);
	return 0;
}

static void start(void)
{
	assert_int_equal(workers_start(&bench.all, NULL), 0);
}

static void watch(unsigned which, worker_fn *fn)
{
	assert_int_equal(worker_watch(bench.worker, bench.fd[which], EPOLLIN, fn, &ctx[which], NULL), 0);
}

static void ring(unsigned which)
{
	uint64_t one = 1;

	assert_int_equal(write(bench.fd[which], &one, sizeof(one)), sizeof(one));
}

static void wait_calls(unsigned which, unsigned count)
{
	while (bench.calls[which] != count)
		sched_yield();
}

/* ---- */

static void test_watch(void **state)
{
	(void)state;
	watch(0, on_ready); /* before the thread runs, and after */
	ring(0);
	start();
	wait_calls(0, 1);
	watch(1, on_ready);
	for (unsigned i = 1; i < 1000; i++) {
		ring(i % 2);
		wait_calls(i % 2, i / 2 + 1);
	}
}

static void test_thread(void **state)
{
	(void)state;
	watch(0, look_at_thread);
	start();
	ring(0);
	wait_calls(0, 1);
	assert_true(bench.blocked);
	assert_string_equal(bench.name, "a name that is ");
}

static void test_unwatch(void **state)
{
	(void)state;
	watch(0, on_ready);
	watch(1, on_ready);
	start();
	worker_unwatch(bench.worker, bench.fd[0]);
	worker_unwatch(bench.worker, bench.fd[0]); /* unwatching it again has no effect */
	ring(0);
	ring(1);
	wait_calls(1, 1);
	assert_int_equal(bench.calls[0], 0);
	watch(0, on_ready);
	wait_calls(0, 1);
}

static void test_unwatch_itself(void **state)
{
	(void)state;
	watch(0, on_ready_once);
	watch(1, on_ready);
	start();
	ring(0);
	wait_calls(0, 1);
	ring(0);
	ring(1);
	wait_calls(1, 1);
	assert_int_equal(bench.calls[0], 1);
}

/* The callback of a descriptor that becomes ready during a pause runs after the pause. */
static void test_pause(void **state)
{
	(void)state;
	watch(0, on_ready);
	watch(1, on_ready);
	start();
	worker_pause(bench.worker);
	workers_pause(&bench.all);
	ring(0);
	worker_resume(bench.worker);
	for (unsigned i = 0; i < 1000; i++)
		sched_yield();
	assert_false(bench.inside);
	assert_int_equal(bench.calls[0], 0);
	workers_resume(&bench.all);
	wait_calls(0, 1);
}

struct waiter {
	void (*wait)(struct worker *worker);
	atomic_bool done;
};

static void unwatch(struct worker *worker)
{
	worker_unwatch(worker, bench.fd[0]);
}

static void *waits(void *arg)
{
	struct waiter *waiter = arg;

	waiter->wait(bench.worker);
	assert_false(bench.inside);
	waiter->done = true;
	return NULL;
}

/* Check that `wait` returns only after the running callback has returned. */
static void check_waits(void (*wait)(struct worker *worker))
{
	struct waiter waiter = {.wait = wait};
	pthread_t thread;

	watch(0, on_ready);
	bench.stay = true;
	start();
	ring(0);
	while (!bench.inside)
		sched_yield();
	assert_int_equal(pthread_create(&thread, NULL, waits, &waiter), 0);
	for (unsigned i = 0; i < 1000; i++)
		sched_yield();
	assert_false(waiter.done);
	bench.stay = false;
	pthread_join(thread, NULL);
	assert_true(waiter.done);
	assert_int_equal(bench.calls[0], 1);
}

static void test_pause_waits(void **state)
{
	(void)state;
	check_waits(worker_pause);
	worker_resume(bench.worker);
}

static void test_unwatch_waits(void **state)
{
	(void)state;
	check_waits(unwatch);
}

/* A machine may end while a snapshot holds its workers. */
static void test_end_while_paused(void **state)
{
	(void)state;
	watch(0, on_ready);
	start();
	workers_pause(&bench.all);
	ring(0);
	workers_join(&bench.all);
	assert_int_equal(bench.calls[0], 0);
	workers_resume(&bench.all);
}

/* A thread with a deadline does not wait longer for a callback that waits for the host. */
static void test_deadlines(void **state)
{
	(void)state;
	watch(0, on_ready);
	bench.stay = true;
	start();
	ring(0);
	while (!bench.inside)
		sched_yield();
	assert_string_equal(workers_pause_until(&bench.all, monotonic_ns()), "a name that is ");
	assert_int_equal(bench.all.standing, 0);
	workers_end(&bench.all);
	assert_string_equal(workers_joined(&bench.all, monotonic_ns()), "a name that is ");
	bench.stay = false;
	workers_join(&bench.all);
	assert_null(workers_joined(&bench.all, monotonic_ns()));
	assert_int_equal(bench.calls[0], 1);
}

/* The detector checks dma_busy() before it takes the machine for idle. Any event that wakes the worker counts. */
static void test_device_is_at_work(void **state)
{
	struct ram ram = {0};
	struct dma dma;

	(void)state;
	dma_init(&dma, &ram);
	bench.all.dma = &dma;
	bench.stay = true;
	watch(0, on_ready);
	start();
	assert_false(dma_busy(&dma));
	ring(0);
	while (!bench.inside)
		sched_yield();
	assert_true(dma_busy(&dma));
	bench.stay = false;
	workers_join(&bench.all);
	assert_int_equal(bench.calls[0], 1);
	assert_false(dma_busy(&dma));
	/* The worker outlives this function, and `dma` does not. */
	bench.all.dma = NULL;
	dma_destroy(&dma);
}

/*
 * From the notification to the end of serving it, the detector finds the device busy. A worker whose thread was not started
 * stands for a worker that the host has not scheduled yet.
 */
static void test_notified_device_is_not_idle(void **state)
{
	struct worker *more[100];

	(void)state;
	watch(0, on_ready);
	assert_false(workers_woken(&bench.all));
	ring(0);
	assert_true(workers_woken(&bench.all));
	start();
	wait_calls(0, 1);
	assert_false(workers_woken(&bench.all));
	/* The notified worker is the first of many. */
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		more[i] = worker_new(&bench.all, SANDBOX_BLK, "more", NULL);
		assert_non_null(more[i]);
	}
	assert_int_equal(worker_watch(more[0], bench.fd[1], EPOLLIN | EPOLLET, on_ready, &ctx[1], NULL), 0);
	assert_false(workers_woken(&bench.all));
	ring(1);
	assert_true(workers_woken(&bench.all));
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		worker_free(more[i]);
}

static void *pause_always(void *arg)
{
	atomic_bool *stop = arg;

	while (!*stop) {
		worker_pause(bench.worker);
		assert_false(bench.inside);
		worker_resume(bench.worker);
	}
	return NULL;
}

static void test_under_load(void **state)
{
	atomic_bool stop = false;
	pthread_t thread[2];

	(void)state;
	start();
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, pause_always, &stop), 0);
	for (unsigned i = 0; i < 2000; i++) {
		watch(0, on_ready);
		watch(1, on_ready);
		ring(0);
		wait_calls(0, i + 1);
		worker_unwatch(bench.worker, bench.fd[1]);
		worker_unwatch(bench.worker, bench.fd[0]);
	}
	stop = true;
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_watch),
		TEST(test_thread),
		TEST(test_unwatch),
		TEST(test_unwatch_itself),
		TEST(test_pause),
		TEST(test_pause_waits),
		TEST(test_unwatch_waits),
		TEST(test_end_while_paused),
		TEST(test_deadlines),
		TEST(test_under_load),
		TEST(test_device_is_at_work),
		TEST(test_notified_device_is_not_idle),
	};

	/* Confine workers as in a run. */
	if (sandbox_prepare(NULL, NULL, NULL) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
