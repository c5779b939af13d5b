// SPDX-License-Identifier: GPL-2.0-or-later
/* How devices access guest RAM: the bounds are checked, and an observer misses no access to memory that it watches. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/vmm/dma.h"
#include "hv/vmm/layout.h"

#define LOW (1u << 20)
#define HIGH (1u << 16)
#define TOLD_MAX 16

struct bench {
	struct ram ram;
	struct dma dma;
	struct device_observer observer;
	/* The accesses that were reported to the observer. */
	struct device_access segments[TOLD_MAX], rings[TOLD_MAX];
	unsigned segment_count, ring_count;
	/* The value in the ring when its store was reported to the observer. */
	uint16_t at_store;
	/* Number of stores in flight that a window found which opened while a store was reported. */
	unsigned under_way;
};

static void ignore(void *ctx, const struct device_access *access)
{
	(void)ctx;
	(void)access;
}

static void count_under_way(void *ctx, const struct device_access *access)
{
	struct bench *b = ctx;

	assert_true(access->write);
	b->under_way++;
}

static void on_segment(void *ctx, const struct device_access *access)
{
	struct bench *b = ctx;

	b->segments[b->segment_count++] = *access;
}

static void on_ring(void *ctx, const struct device_access *access)
{
	struct bench *b = ctx;
	const struct device_observer window = {.segment = ignore, .ring = count_under_way, .ctx = b};

	dma_in_flight(&b->dma, &window);
	b->rings[b->ring_count++] = *access;
	memcpy(&b->at_store, dma_at(&b->dma, access->gpa, 2), 2);
}

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	if (!b)
		return -1;
	*state = b;
	b->ram = (struct ram){.host = calloc(1, LOW + HIGH), .low = LOW, .high = HIGH};
	dma_init(&b->dma, &b->ram);
	b->observer = (struct device_observer){.segment = on_segment, .ring = on_ring, .ctx = b};
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

/* ---- bounds ---- */

static void test_bounds(void **state)
{
	struct bench *b = *state;
	struct dma_ring ring;
	uint64_t value;
	char bytes[16];

	assert_ptr_equal(dma_at(&b->dma, LOW - 1, 1), b->ram.host + LOW - 1);
	assert_null(dma_at(&b->dma, LOW - 1, 2));
	assert_ptr_equal(dma_at(&b->dma, RAM_HOLE_END, HIGH), b->ram.host + LOW);
	assert_null(dma_at(&b->dma, RAM_HOLE_END, HIGH + 1));
	assert_null(dma_at(&b->dma, UINT64_MAX - 3, 8));

	dma_ring_add(&b->dma, &ring, &(struct device_request){0});
	assert_int_equal(dma_ring_load64(&ring, LOW - 8, &value), 0);
	assert_int_equal(dma_ring_load64(&ring, LOW, &value), -1);
	assert_int_equal(dma_ring_load64(&ring, UINT64_MAX - 7, &value), -1);
	assert_int_equal(dma_ring_load64(&ring, 4, &value), -1);
	assert_int_equal(dma_ring_store16(&ring, 1, 1), -1);
	assert_int_equal(dma_ring_store32(&ring, LOW, 1), -1);
	assert_int_equal(dma_ring_read(&ring, LOW - 15, bytes, 16), -1);
	assert_int_equal(dma_ring_read(&ring, LOW - 16, bytes, 16), 0);
	assert_int_equal(atomic_load(&ring.storing), 0);
	dma_ring_remove(&ring);
}

static void test_ring_values(void **state)
{
	struct bench *b = *state;
	struct dma_ring ring;
	uint64_t value64;
	uint32_t value32;
	uint16_t value16;
	uint8_t bytes[3];

	dma_ring_add(&b->dma, &ring, &(struct device_request){0});
	assert_int_equal(dma_ring_store64(&ring, 0x1000, 0x8877665544332211), 0);
	assert_int_equal(dma_ring_load64(&ring, 0x1000, &value64), 0);
	assert_int_equal(dma_ring_load32(&ring, 0x1004, &value32), 0);
	assert_int_equal(dma_ring_load16(&ring, 0x1002, &value16), 0);
	assert_true(value64 == 0x8877665544332211 && value32 == 0x88776655 && value16 == 0x4433);
	assert_int_equal(dma_ring_store32(&ring, 0x1000, 0xaabbccdd), 0);
	assert_int_equal(dma_ring_store16(&ring, 0x1000, 0xeeff), 0);
	assert_int_equal(dma_ring_read(&ring, 0x1001, bytes, sizeof(bytes)), 0);
	assert_memory_equal(bytes, "\xee\xbb\xaa", 3);
	/* No memory is watched, so the observer gets no report. */
	assert_int_equal(b->ring_count, 0);
	dma_ring_remove(&ring);
}

/* ---- reports to the observer ---- */

static const struct device_segment segments[] = {
	{.gpa = 0x2000, .len = 16, .descriptor = 0},
	{.gpa = 0x7ff0, .len = 0x20, .write = true, .descriptor = 1},
	{.gpa = 0x9000, .len = 1, .write = true, .descriptor = 2},
	{.gpa = 0x8800, .len = 0, .write = true, .descriptor = 3},
};

static struct dma_flight flight_of(unsigned head)
{
	return (struct dma_flight){
		.by = {.type = "virtio-blk", .head = (uint16_t)head, .op = DEVICE_BLK_READ}, .segments = segments, .count = 4};
}

static void test_flight_begins_in_a_window(void **state)
{
	struct bench *b = *state;
	struct dma_flight flight = flight_of(5);

	assert_false(dma_busy(&b->dma));
	dma_begin(&b->dma, &flight);
	assert_true(dma_busy(&b->dma));
	assert_int_equal(b->segment_count, 0);
	dma_end(&b->dma, &flight);
	assert_false(dma_busy(&b->dma));

	dma_serve_begin(&b->dma);
	assert_true(dma_busy(&b->dma));
	dma_begin(&b->dma, &flight);
	dma_end(&b->dma, &flight);
	assert_true(dma_busy(&b->dma));
	dma_serve_end(&b->dma);
	assert_false(dma_busy(&b->dma));

	dma_watch(&b->dma, device_filter(0x8000, 8));
	dma_begin(&b->dma, &flight);
	dma_end(&b->dma, &flight);
	assert_int_equal(b->segment_count, 1);
	assert_int_equal(b->segments[0].gpa, 0x7ff0);
	assert_int_equal(b->segments[0].len, 0x20);
	assert_int_equal(b->segments[0].descriptor, 1);
	assert_true(b->segments[0].write);
	assert_int_equal(b->segments[0].request.head, 5);
	assert_int_equal(b->segments[0].request.op, DEVICE_BLK_READ);

	dma_watch(&b->dma, 0);
	dma_begin(&b->dma, &flight);
	dma_end(&b->dma, &flight);
	assert_int_equal(b->segment_count, 1);
}

static void test_window_opens_in_a_flight(void **state)
{
	struct bench *b = *state;
	struct dma_flight one = flight_of(1), two = flight_of(2), three = flight_of(3);

	dma_begin(&b->dma, &one);
	dma_begin(&b->dma, &two);
	dma_begin(&b->dma, &three);
	dma_end(&b->dma, &two);
	dma_watch(&b->dma, device_filter(0x9000, 1));
	dma_in_flight(&b->dma, &b->observer);
	assert_int_equal(b->segment_count, 2);
	assert_int_equal(b->segments[0].request.head + b->segments[1].request.head, 4);
	assert_int_equal(b->segments[0].gpa, 0x9000);
	dma_end(&b->dma, &three);
	dma_end(&b->dma, &one);
	dma_in_flight(&b->dma, &b->observer);
	assert_int_equal(b->segment_count, 2);
}

static void test_ring_accesses_in_a_window(void **state)
{
	struct bench *b = *state;
	struct dma_ring ring;
	uint16_t value;
	char descriptor[16];

	dma_ring_add(&b->dma, &ring, &(struct device_request){.type = "virtio-net", .index = 2, .queue = 1});
	dma_watch(&b->dma, device_filter(0x3000, 8));
	assert_int_equal(dma_ring_store16(&ring, 0x3002, 7), 0);
	assert_int_equal(b->ring_count, 1);
	assert_true(b->rings[0].write && b->rings[0].gpa == 0x3002 && b->rings[0].len == 2);
	assert_int_equal(b->rings[0].request.queue, 1);
	assert_string_equal(b->rings[0].request.type, "virtio-net");
	/* The report came before the store. Otherwise a window could find the new value without a report of its writer. */
	assert_int_equal(b->at_store, 0);
	/* A window that opened at that moment found the store in flight. */
	assert_int_equal(b->under_way, 1);
	assert_int_equal(dma_ring_load16(&ring, 0x3002, &value), 0);
	assert_int_equal(value, 7);
	assert_int_equal(dma_ring_read(&ring, 0x2ff8, descriptor, 16), 0);
	assert_int_equal(b->ring_count, 3);
	assert_false(b->rings[1].write || b->rings[2].write);
	assert_int_equal(dma_ring_store16(&ring, 0x4000, 7), 0);
	assert_int_equal(b->ring_count, 3);
	/* No store is in flight now. */
	dma_in_flight(&b->dma, &b->observer);
	assert_int_equal(b->ring_count, 3);
	assert_int_equal(b->under_way, 1);
	dma_ring_remove(&ring);
}

static void test_no_observer(void **state)
{
	struct bench *b = *state;
	struct dma_flight flight = flight_of(0);

	dma_watch(&b->dma, UINT64_MAX);
	dma_observe(&b->dma, NULL);
	dma_begin(&b->dma, &flight);
	dma_end(&b->dma, &flight);
	assert_int_equal(b->segment_count, 0);
}

/* ---- nothing is missed ---- */

#define DEVICES 2
#define WINDOWS 3000
#define CHANGED 200
#define DATA 0x5000ull /* the data of a device, and its ring, are at DATA + 64 * its number */
#define RING 0x6000ull

struct race {
	struct dma dma;
	struct ram ram;
	atomic_bool end;
	/* The open window got a report of its device's segment, or of a store to its device's ring. */
	atomic_bool segment_told, ring_told;
	/* The GPAs that the window watches. */
	_Atomic uint64_t data, ring;
};

struct racing_device {
	struct race *race;
	unsigned number;
	pthread_t thread;
};

static void race_segment(void *ctx, const struct device_access *access)
{
	struct race *r = ctx;

	if (access->gpa == atomic_load(&r->data))
		atomic_store(&r->segment_told, true);
}

static void race_ring(void *ctx, const struct device_access *access)
{
	struct race *r = ctx;

	if (access->gpa == atomic_load(&r->ring))
		atomic_store(&r->ring_told, true);
}

static void *device_main(void *arg)
{
	struct racing_device *device = arg;
	struct race *r = device->race;
	struct device_segment segment = {.gpa = DATA + 64 * device->number, .len = 4, .write = true};
	struct dma_flight flight = {.segments = &segment, .count = 1};
	uint32_t *data = dma_at(&r->dma, segment.gpa, 4);
	struct dma_ring ring;

	dma_ring_add(&r->dma, &ring, &(struct device_request){0});
	for (uint32_t i = 1; !atomic_load(&r->end); i++) {
		dma_begin(&r->dma, &flight);
		__atomic_store_n(data, i, __ATOMIC_RELAXED);
		dma_end(&r->dma, &flight);
		dma_ring_store32(&ring, RING + 64 * device->number, i);
	}
	dma_ring_remove(&ring);
	return NULL;
}

static uint32_t look_at(struct race *r, uint64_t gpa)
{
	return __atomic_load_n((uint32_t *)dma_at(&r->dma, gpa, 4), __ATOMIC_ACQUIRE);
}

/* How often the data and the ring changed in a window. */
struct changes {
	unsigned data, ring;
};

/* Open a window on the memory of one device. Every change in it must have been reported. */
static void one_window(struct race *r, const struct device_observer *observer, unsigned number, struct changes *changes)
{
	uint64_t data = DATA + 64 * number, ring = RING + 64 * number;
	uint32_t before[2], after[2];

	atomic_store(&r->segment_told, false);
	atomic_store(&r->ring_told, false);
	atomic_store(&r->data, data);
	atomic_store(&r->ring, ring);
	dma_watch(&r->dma, device_filter(data, 4) | device_filter(ring, 4));
	dma_in_flight(&r->dma, observer);
	before[0] = look_at(r, data);
	before[1] = look_at(r, ring);
	sched_yield();
	after[0] = look_at(r, data);
	after[1] = look_at(r, ring);
	if (after[0] != before[0]) {
		changes->data++;
		assert_true(atomic_load(&r->segment_told));
	}
	if (after[1] != before[1]) {
		changes->ring++;
		assert_true(atomic_load(&r->ring_told));
	}
	dma_watch(&r->dma, 0);
	/* Wait for a device that still reports an access of this window. Its report must not count for the next window. */
	while (atomic_load(&r->dma.calling))
		sched_yield();
	atomic_store(&r->data, 0);
	atomic_store(&r->ring, 0);
}

static void test_no_change_is_missed(void **state)
{
	struct bench *b = *state;
	struct race r = {.ram = b->ram};
	const struct device_observer observer = {.segment = race_segment, .ring = race_ring, .ctx = &r};
	struct racing_device devices[DEVICES];
	struct changes changes = {0};

	dma_init(&r.dma, &r.ram);
	dma_observe(&r.dma, &observer);
	for (unsigned i = 0; i < DEVICES; i++) {
		devices[i] = (struct racing_device){.race = &r, .number = i};
		assert_int_equal(pthread_create(&devices[i].thread, NULL, device_main, &devices[i]), 0);
	}
	for (unsigned i = 0; i < WINDOWS || changes.data < CHANGED || changes.ring < CHANGED; i++)
		one_window(&r, &observer, i % DEVICES, &changes);
	atomic_store(&r.end, true);
	for (unsigned i = 0; i < DEVICES; i++)
		pthread_join(devices[i].thread, NULL);
	assert_false(dma_busy(&r.dma));
	dma_observe(&r.dma, NULL);
	dma_destroy(&r.dma);
}

/* When dma_observe() has removed the observer, no thread is in its callbacks. */
struct gone {
	struct dma *dma;
	atomic_bool end, alive;
	atomic_uint calls, too_late;
};

static void gone_call(void *ctx, const struct device_access *access)
{
	struct gone *g = ctx;

	(void)access;
	atomic_fetch_add(&g->calls, 1);
	sched_yield();
	if (!atomic_load(&g->alive))
		atomic_fetch_add(&g->too_late, 1);
}

static void *gone_device(void *arg)
{
	struct gone *g = arg;
	struct dma_flight flight = flight_of(0);

	while (!atomic_load(&g->end)) {
		dma_begin(g->dma, &flight);
		dma_end(g->dma, &flight);
	}
	return NULL;
}

static void test_observer_leaves(void **state)
{
	struct bench *b = *state;
	struct gone g = {.dma = &b->dma};
	const struct device_observer observer = {.segment = gone_call, .ring = gone_call, .ctx = &g};
	pthread_t thread;

	dma_watch(&b->dma, UINT64_MAX);
	dma_observe(&b->dma, NULL);
	assert_int_equal(pthread_create(&thread, NULL, gone_device, &g), 0);
	for (unsigned i = 0; i < 200; i++) {
		unsigned calls = atomic_load(&g.calls);

		atomic_store(&g.alive, true);
		dma_observe(&b->dma, &observer);
		while (atomic_load(&g.calls) == calls)
			sched_yield();
		dma_observe(&b->dma, NULL);
		atomic_store(&g.alive, false);
	}
	atomic_store(&g.end, true);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&g.too_late), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bounds),
		TEST(test_ring_values),
		TEST(test_flight_begins_in_a_window),
		TEST(test_window_opens_in_a_flight),
		TEST(test_ring_accesses_in_a_window),
		TEST(test_no_observer),
		TEST(test_no_change_is_missed),
		TEST(test_observer_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
