// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests that are held: which one is offered, how long it waits, and what lets it go. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/clock.h"
#include "hv/vmm/dma.h"
#include "hv/vmm/virtio/worker.h"

#define RAM (1u << 20)
#define LONG_NS (60 * UINT64_C(1000000000)) /* longer than the test may take; the hold is cut to DMA_HOLD_MOST_NS */

struct bench {
	struct ram ram;
	struct dma dma;
	struct device_observer observer;
	/* What request() returns, and then hold_end(). */
	uint64_t hold_ns, again_ns;
	/* What they were called with. */
	unsigned requests, ends, cut_short, segment_count;
	uint16_t head;
	/* The thread of the device is in request(), or waits in the hold after it. */
	atomic_bool asked;
};

static void ignore(void *ctx, const struct device_access *access)
{
	(void)ctx;
	(void)access;
}

static uint64_t on_request(void *ctx, const struct device_request *by, const struct device_segment *segments, unsigned count)
{
	struct bench *b = ctx;

	assert_int_equal(segments[0].gpa, 0x3000);
	b->requests++;
	b->head = by->head;
	b->segment_count = count;
	atomic_store(&b->asked, true);
	return b->hold_ns;
}

static uint64_t on_hold_end(void *ctx, bool last)
{
	struct bench *b = ctx;
	uint64_t ns = b->again_ns;

	b->ends++;
	b->cut_short += last;
	b->again_ns = 0;
	return ns;
}

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	if (!b)
		return -1;
	*state = b;
	b->ram = (struct ram){.host = calloc(1, RAM), .low = RAM};
	dma_init(&b->dma, &b->ram);
	b->observer = (struct device_observer){
		.segment = ignore, .ring = ignore, .request = on_request, .hold_end = on_hold_end, .ctx = b};
	dma_observe(&b->dma, &b->observer);
	return b->ram.host ? 0 : -1;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	dma_observe(&b->dma, NULL);
	dma_destroy(&b->dma);
	free(b->ram.host);
	free(b);
	return 0;
}

static const struct device_segment segments[] = {{.gpa = 0x3000, .len = 512}, {.gpa = 0x4000, .len = 1, .write = true}};

static void serve(struct bench *b, uint16_t head)
{
	struct dma_flight flight = {.by = {.type = "virtio-blk", .head = head}, .segments = segments, .count = 2};

	dma_begin(&b->dma, &flight);
	assert_true(dma_busy(&b->dma));
	dma_end(&b->dma, &flight);
}

static void test_the_nth_request_is_offered_once(void **state)
{
	struct bench *b = *state;

	serve(b, 1);
	assert_int_equal(b->requests, 0);
	dma_want(&b->dma, 3);
	for (uint16_t head = 2; head < 10; head++)
		serve(b, head);
	assert_int_equal(b->requests, 1);
	assert_int_equal(b->head, 4);
	assert_int_equal(b->segment_count, 2);
	/* The observer did not want to hold it. */
	assert_int_equal(b->ends, 0);
	dma_want(&b->dma, 1);
	dma_want(&b->dma, 0);
	serve(b, 11);
	assert_int_equal(b->requests, 1);
}

static void test_a_request_waits_as_long_as_the_observer_says(void **state)
{
	struct bench *b = *state;
	uint64_t began;

	b->hold_ns = 2000000;
	b->again_ns = 3000000;
	dma_want(&b->dma, 1);
	began = monotonic_ns();
	serve(b, 1);
	assert_true(monotonic_ns() - began >= 5000000);
	assert_int_equal(b->ends, 2);
	assert_int_equal(b->cut_short, 0);
}

static void test_no_observer_of_requests(void **state)
{
	struct bench *b = *state;

	b->observer.request = NULL;
	dma_want(&b->dma, 1);
	serve(b, 1);
	dma_observe(&b->dma, NULL);
	dma_want(&b->dma, 1);
	serve(b, 2);
	assert_int_equal(b->requests, 0);
}

static void *device(void *arg)
{
	serve(arg, 1);
	return NULL;
}

/* Let a thread hold a request, and return when it is about to wait. */
static pthread_t hold_a_request(struct bench *b)
{
	pthread_t thread;

	b->hold_ns = b->again_ns = LONG_NS;
	dma_want(&b->dma, 1);
	assert_int_equal(pthread_create(&thread, NULL, device, b), 0);
	while (!atomic_load(&b->asked))
		sched_yield();
	return thread;
}

/* Cut short, the hold ends, although the observer wants more of it. */
static void expect_cut_short(struct bench *b, pthread_t thread)
{
	pthread_join(thread, NULL);
	assert_int_equal(b->ends, 1);
	assert_int_equal(b->cut_short, 1);
}

static void test_a_held_request_is_let_go(void **state)
{
	struct bench *b = *state;
	pthread_t thread = hold_a_request(b);
	bool holding = false;

	/* A request that does not wait yet cannot be let go. */
	while (!holding) {
		pthread_mutex_lock(&b->dma.hold.lock);
		holding = b->dma.hold.holding;
		pthread_mutex_unlock(&b->dma.hold.lock);
		sched_yield();
	}
	dma_let_go(&b->dma);
	expect_cut_short(b, thread);
}

static void test_letting_go_without_a_held_request_changes_nothing(void **state)
{
	struct bench *b = *state;

	dma_let_go(&b->dma);
	b->hold_ns = 1000000;
	dma_want(&b->dma, 1);
	serve(b, 1);
	assert_int_equal(b->ends, 1);
	assert_int_equal(b->cut_short, 0);
}

static void test_a_hold_is_bounded(void **state)
{
	struct bench *b = *state;
	uint64_t began = monotonic_ns(), took;

	b->hold_ns = LONG_NS;
	dma_want(&b->dma, 1);
	serve(b, 1);
	took = monotonic_ns() - began;
	assert_true(took >= DMA_HOLD_MOST_NS && took < LONG_NS);
	assert_int_equal(b->cut_short, 0);
}

/* Before a snapshot, at a reset and at the end, workers are paused. That lets a held request go, and no other is held. */
static void test_paused_workers_hold_nothing(void **state)
{
	struct bench *b = *state;
	struct workers workers;
	struct worker *worker;
	pthread_t thread;

	workers_init(&workers, &b->dma);
	worker = worker_new(&workers, SANDBOX_BLK, "test", NULL);
	assert_non_null(worker);
	thread = hold_a_request(b);
	workers_pause(&workers);
	expect_cut_short(b, thread);

	b->again_ns = 0;
	dma_want(&b->dma, 1);
	serve(b, 2);
	assert_int_equal(b->cut_short, 2);
	workers_resume(&workers);

	b->hold_ns = 1000000;
	dma_want(&b->dma, 1);
	serve(b, 3);
	assert_int_equal(b->ends, 3);
	assert_int_equal(b->cut_short, 2);

	workers_join(&workers);
	dma_want(&b->dma, 1);
	serve(b, 4);
	assert_int_equal(b->cut_short, 3);
	worker_free(worker);
	workers_destroy(&workers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_the_nth_request_is_offered_once),
		TEST(test_a_request_waits_as_long_as_the_observer_says),
		TEST(test_no_observer_of_requests),
		TEST(test_a_held_request_is_let_go),
		TEST(test_letting_go_without_a_held_request_changes_nothing),
		TEST(test_a_hold_is_bounded),
		TEST(test_paused_workers_hold_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
