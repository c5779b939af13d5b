/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device's side of a split virtqueue: what a driver may do, and each thing that it may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/vmm/virtio/queue.h"

#define RAM_LEN 0x100000u
#define DESC 0x1000u
#define AVAIL 0x3000u
#define USED 0x4000u
#define TABLE 0x6000u /* of indirect descriptors */
#define DATA 0x10000u
#define SIZE 8

enum { NEXT = 1, WRITE = 2, INDIRECT = 4 };

struct bench {
	uint8_t *memory;
	struct ram ram;
	struct dma dma;
	struct virtq q;
	struct virtq_request rq;
	struct virtq_place place;
	atomic_bool broken;
	const char *why;
	unsigned interrupts;
	uint16_t avail; /* the driver's index */
};

static void on_interrupt(void *ctx, unsigned queue)
{
	struct bench *b = ctx;

	assert_int_equal(queue, 3);
	b->interrupts++;
}

static void on_broken(void *ctx, unsigned queue, const char *why)
{
	struct bench *b = ctx;

	assert_int_equal(queue, 3);
	b->broken = true;
	b->why = why;
}

static int setup(void **state)
{
	const struct device_request by = {.type = "virtio-test", .index = 1, .queue = 3};
	struct bench *b = calloc(1, sizeof(*b));
	struct virtq_wiring wiring = {
		.interrupt = on_interrupt, .broken = on_broken, .ctx = b, .device_broken = b ? &b->broken : NULL};

	assert_non_null(b);
	b->memory = calloc(1, RAM_LEN);
	assert_non_null(b->memory);
	b->ram = (struct ram){.host = b->memory, .low = RAM_LEN};
	dma_init(&b->dma, &b->ram);
	virtq_init(&b->q, &b->dma, &by, &wiring);
	b->place = (struct virtq_place){SIZE, DESC, AVAIL, USED, true, true};
	assert_int_equal(virtq_start(&b->q, &b->place), 0);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	virtq_stop(&b->q);
	dma_destroy(&b->dma);
	free(b->memory);
	free(b);
	return 0;
}

/* ---- the driver ---- */

static void put(struct bench *b, uint64_t gpa, uint64_t value, unsigned bytes)
{
	memcpy(b->memory + gpa, &value, bytes);
}

static uint64_t get(const struct bench *b, uint64_t gpa, unsigned bytes)
{
	uint64_t value = 0;

	memcpy(&value, b->memory + gpa, bytes);
	return value;
}

static void desc(struct bench *b, uint64_t table, unsigned i, uint64_t gpa, uint32_t len, uint16_t flags, uint16_t next)
{
	put(b, table + 16 * i, gpa, 8);
	put(b, table + 16 * i + 8, len, 4);
	put(b, table + 16 * i + 12, flags, 2);
	put(b, table + 16 * i + 14, next, 2);
}

static void offer(struct bench *b, uint16_t head)
{
	put(b, AVAIL + 4 + 2 * (b->avail % SIZE), head, 2);
	put(b, AVAIL + 2, ++b->avail, 2);
}

static uint16_t used_index(const struct bench *b)
{
	return (uint16_t)get(b, USED + 2, 2);
}

static uint16_t avail_event(const struct bench *b)
{
	return (uint16_t)get(b, USED + 4 + 8 * SIZE, 2);
}

static void want_interrupt_at(struct bench *b, uint16_t used)
{
	put(b, AVAIL + 4 + 2 * SIZE, used, 2);
}

/* A header of 16 bytes to read, 32 bytes to read, 64 bytes and one byte to write. */
static void offer_request(struct bench *b)
{
	desc(b, DESC, 2, DATA, 16, NEXT, 5);
	desc(b, DESC, 5, DATA + 0x1000, 32, NEXT, 0);
	desc(b, DESC, 0, DATA + 0x2000, 64, NEXT | WRITE, 7);
	desc(b, DESC, 7, DATA + 0x3000, 1, WRITE, 0);
	offer(b, 2);
}

/* ---- what a driver may do ---- */

static void test_request(void **state)
{
	struct bench *b = *state;
	uint8_t out[64], in[48];

	assert_int_equal(virtq_pop(&b->q, &b->rq), 0);
	for (unsigned i = 0; i < 48; i++)
		b->memory[i < 16 ? DATA + i : DATA + 0x1000 + i - 16] = (uint8_t)(i + 1);
	offer_request(b);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
	assert_int_equal(b->rq.head, 2);
	assert_int_equal(b->rq.readable, 2);
	assert_int_equal(b->rq.writable, 2);
	assert_int_equal(b->rq.read_len, 48);
	assert_int_equal(b->rq.write_len, 65);
	assert_int_equal(virtq_read(&b->rq, 0, in, 100), 48);
	for (unsigned i = 0; i < 48; i++)
		assert_int_equal(in[i], i + 1);
	assert_int_equal(virtq_read(&b->rq, 15, in, 2), 2);
	assert_int_equal(in[0], 16);
	assert_int_equal(in[1], 17);
	assert_int_equal(virtq_read(&b->rq, 48, in, 1), 0);
	memset(out, 0xab, sizeof(out));
	assert_int_equal(virtq_write(&b->rq, 10, out, 64), 55);
	assert_int_equal(b->memory[DATA + 0x2009], 0);
	assert_int_equal(b->memory[DATA + 0x200a], 0xab);
	assert_int_equal(b->memory[DATA + 0x3000], 0xab);
	assert_int_equal(b->memory[DATA + 0x3001], 0);
	virtq_push(&b->rq, 65);
	assert_int_equal(used_index(b), 1);
	assert_int_equal(get(b, USED + 4, 4), 2);
	assert_int_equal(get(b, USED + 8, 4), 65);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 0);
	assert_false(b->broken);
}

static void test_iov(void **state)
{
	struct bench *b = *state;
	struct iovec iov[4];

	offer_request(b);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
	assert_int_equal(virtq_iov(&b->rq, false, 4, 1000, iov, 4), 2);
	assert_ptr_equal(iov[0].iov_base, b->memory + DATA + 4);
	assert_int_equal(iov[0].iov_len, 12);
	assert_int_equal(iov[1].iov_len, 32);
	assert_int_equal(virtq_iov(&b->rq, false, 4, 1000, iov, 1), 1);
	assert_int_equal(virtq_iov(&b->rq, true, 0, 64, iov, 4), 1);
	assert_int_equal(virtq_iov(&b->rq, true, 64, 64, iov, 4), 1);
	assert_ptr_equal(iov[0].iov_base, b->memory + DATA + 0x3000);
	assert_int_equal(virtq_iov(&b->rq, true, 65, 1, iov, 4), 0);
	virtq_drop(&b->rq);
}

static void test_indirect(void **state)
{
	struct bench *b = *state;

	/* A plain descriptor first, then the table. Of the table's three, the order is 0, 2, 1. */
	desc(b, DESC, 1, DATA, 8, NEXT, 4);
	desc(b, DESC, 4, TABLE, 3 * 16, INDIRECT, 0);
	desc(b, TABLE, 0, DATA + 0x100, 100, NEXT, 2);
	desc(b, TABLE, 2, DATA + 0x200, 200, NEXT | WRITE, 1);
	desc(b, TABLE, 1, DATA + 0x300, 300, WRITE, 0);
	offer(b, 1);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
	assert_int_equal(b->rq.readable, 2);
	assert_int_equal(b->rq.writable, 2);
	assert_int_equal(b->rq.read_len, 108);
	assert_int_equal(b->rq.write_len, 500);
	assert_int_equal(b->rq.segment[2].gpa, DATA + 0x200);
	assert_int_equal(b->rq.segment[3].descriptor, 3);
	virtq_push(&b->rq, 0);
	assert_int_equal(get(b, USED + 4, 4), 1);
}

/* A chain of an indirect table may be longer than the queue, up to VIRTQ_MAX_SIZE. */
static void test_longest(void **state)
{
	struct bench *b = *state;

	desc(b, DESC, 0, TABLE, VIRTQ_MAX_SIZE * 16, INDIRECT, 0);
	for (unsigned i = 0; i < VIRTQ_MAX_SIZE; i++)
		desc(b, TABLE, i, DATA, 1, i + 1 < VIRTQ_MAX_SIZE ? NEXT : 0, (uint16_t)(i + 1));
	offer(b, 0);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
	assert_int_equal(b->rq.readable, VIRTQ_MAX_SIZE);
	virtq_push(&b->rq, 0);
}

static void test_unpop(void **state)
{
	struct bench *b = *state;

	offer_request(b);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
	virtq_unpop(&b->rq);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
	assert_int_equal(b->rq.head, 2);
	virtq_push(&b->rq, 0);
	assert_int_equal(used_index(b), 1);
}

/* The driver sees several used requests at once. */
static void test_put_and_publish(void **state)
{
	struct bench *b = *state;

	for (uint16_t i = 0; i < 3; i++) {
		desc(b, DESC, i, DATA, 8, WRITE, 0);
		offer(b, i);
	}
	for (uint16_t i = 0; i < 3; i++) {
		assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
		virtq_put(&b->rq, i);
		assert_int_equal(used_index(b), 0);
	}
	virtq_publish(&b->q);
	assert_int_equal(used_index(b), 3);
	assert_int_equal(get(b, USED + 4 + 8 * 2, 4), 2);
}

/* A request that was popped before a reset has no effect after it. */
static void test_stale_request(void **state)
{
	struct bench *b = *state;

	offer_request(b);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
	virtq_begin(&b->rq, DEVICE_BLK_READ, 8192);
	virtq_stop(&b->q);
	assert_int_equal(virtq_pop(&b->q, &b->rq), -1);
	virtq_push(&b->rq, 1);
	assert_false(dma_busy(&b->dma));
	assert_int_equal(virtq_start(&b->q, &b->place), 0);
	virtq_push(&b->rq, 1);
	assert_int_equal(used_index(b), 0);
}

static void test_held(void **state)
{
	struct bench *b = *state;

	offer_request(b);
	virtq_hold(&b->q, true);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 0);
	virtq_hold(&b->q, false);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
	virtq_drop(&b->rq);
}

/* ---- reports to the detector ---- */

struct told {
	struct device_access segment[8];
	unsigned count;
};

static void on_segment(void *ctx, const struct device_access *access)
{
	struct told *told = ctx;

	told->segment[told->count++] = *access;
}

static void on_ring(void *ctx, const struct device_access *access)
{
	(void)ctx;
	(void)access;
}

static void test_flight(void **state)
{
	struct bench *b = *state;
	struct told told = {.count = 0};
	const struct device_observer observer = {.segment = on_segment, .ring = on_ring, .ctx = &told};

	dma_observe(&b->dma, &observer);
	dma_watch(&b->dma, UINT64_MAX);
	offer_request(b);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
	assert_false(dma_busy(&b->dma));
	/* The first 20 bytes to read and the first 5 to write. */
	virtq_begin_part(&b->rq, DEVICE_NET_RECEIVE, 7, 20, 5);
	assert_true(dma_busy(&b->dma));
	assert_int_equal(b->rq.segment[0].len, 16);
	assert_int_equal(b->rq.segment[1].len, 4);
	assert_int_equal(b->rq.segment[2].len, 5);
	assert_int_equal(b->rq.segment[3].len, 0);
	assert_true(told.count >= 3);
	assert_string_equal(told.segment[0].request.type, "virtio-test");
	assert_int_equal(told.segment[0].request.index, 1);
	assert_int_equal(told.segment[0].request.queue, 3);
	assert_int_equal(told.segment[0].request.head, 2);
	assert_int_equal(told.segment[0].request.op, DEVICE_NET_RECEIVE);
	assert_int_equal(told.segment[0].request.sector, 7);
	assert_true(told.segment[0].request.tid > 0);
	assert_int_equal(told.segment[0].gpa, DATA);
	assert_false(told.segment[0].write);
	assert_true(told.segment[2].write);
	assert_int_equal(told.segment[2].descriptor, 2);
	virtq_push(&b->rq, 5);
	assert_false(dma_busy(&b->dma));

	/* The last byte to write is in a segment after others. */
	desc(b, DESC, 2, DATA, 16, NEXT, 5);
	desc(b, DESC, 5, DATA + 0x1000, 32, NEXT | WRITE, 0);
	desc(b, DESC, 0, DATA + 0x2000, 64, WRITE, 0);
	offer(b, 2);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
	told.count = 0;
	virtq_begin_status(&b->rq, DEVICE_OP_UNKNOWN, 0, 0, 0);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.segment[0].gpa, DATA + 0x2000 + 63);
	assert_int_equal(told.segment[0].len, 1);
	virtq_push(&b->rq, 1);
	assert_false(dma_busy(&b->dma));

	/*
	 * The device writes the first `len` bytes of a segment and its last byte, the status. With 8 that is the whole segment.
	 */
	for (uint32_t len = 3; len <= 8; len += 5) {
		desc(b, DESC, 2, DATA, 16, NEXT, 5);
		desc(b, DESC, 5, DATA + 0x1000, 8, WRITE, 0);
		offer(b, 2);
		assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
		told.count = 0;
		virtq_begin_status(&b->rq, DEVICE_OP_UNKNOWN, 0, 4, len);
		assert_int_equal(told.count, len < 8 ? 3 : 2);
		assert_int_equal(told.segment[0].len, 4);
		assert_int_equal(told.segment[1].gpa, DATA + 0x1000);
		assert_int_equal(told.segment[1].len, len);
		if (len < 8) {
			assert_int_equal(told.segment[2].gpa, DATA + 0x1007);
			assert_int_equal(told.segment[2].len, 1);
			assert_int_equal(told.segment[2].descriptor, 1);
		}
		virtq_push(&b->rq, 1);
	}
	dma_watch(&b->dma, 0);
	dma_observe(&b->dma, NULL);
}

static unsigned loads_of_ring[RAM_LEN / 2];

static void count_load(void *ctx, const struct device_access *access)
{
	(void)ctx;
	for (uint64_t gpa = access->gpa; !access->write && gpa < access->gpa + access->len; gpa += 2)
		loads_of_ring[gpa / 2]++;
}

/* The guest may change a field after the device has read it, so the device reads no field twice. */
static void test_each_field_is_read_once(void **state)
{
	struct bench *b = *state;
	const struct device_observer observer = {.segment = on_segment, .ring = count_load, .ctx = &(struct told){.count = 0}};

	desc(b, DESC, 1, DATA, 8, NEXT, 4);
	desc(b, DESC, 4, TABLE, 2 * 16, INDIRECT, 0);
	desc(b, TABLE, 0, DATA, 8, NEXT, 1);
	desc(b, TABLE, 1, DATA, 8, WRITE, 0);
	offer(b, 1);
	dma_observe(&b->dma, &observer);
	dma_watch(&b->dma, UINT64_MAX);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(loads_of_ring[(DESC + 16) / 2 + i], 1);
		assert_int_equal(loads_of_ring[(DESC + 64) / 2 + i], 1);
		assert_int_equal(loads_of_ring[TABLE / 2 + i], 1);
		assert_int_equal(loads_of_ring[TABLE / 2 + 8 + i], 1);
	}
	assert_int_equal(loads_of_ring[AVAIL / 2 + 1], 1); /* the index */
	assert_int_equal(loads_of_ring[AVAIL / 2 + 2], 1); /* the entry */
	virtq_push(&b->rq, 0);
	dma_watch(&b->dma, 0);
	dma_observe(&b->dma, NULL);
}

/* ---- event indices ---- */

/* Serve and interrupt: returns whether that interrupted. */
static bool serve_one(struct bench *b)
{
	unsigned before = b->interrupts;

	desc(b, DESC, 0, DATA, 8, WRITE, 0);
	offer(b, 0);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
	virtq_push(&b->rq, 8);
	virtq_interrupt(&b->q);
	return b->interrupts != before;
}

static void test_interrupt_at_event(void **state)
{
	struct bench *b = *state;

	want_interrupt_at(b, 2);
	assert_false(serve_one(b)); /* used index 1 */
	assert_false(serve_one(b));
	assert_true(serve_one(b)); /* 3: the entry 2 was used */
	assert_false(serve_one(b));
	virtq_interrupt(&b->q); /* nothing new */
	assert_int_equal(b->interrupts, 1);
}

/* Both indices wrap at 65536 several times, and the event index is right at each end of the ring. */
static void test_indices_wrap(void **state)
{
	struct bench *b = *state;

	for (unsigned i = 0; i < 3 * 65536 + 5; i++) {
		bool wanted = i % 7 == 0;

		want_interrupt_at(b, (uint16_t)(wanted ? i : i - 1));
		assert_int_equal(serve_one(b), wanted);
		assert_int_equal(virtq_pop(&b->q, &b->rq), 0);
		assert_int_equal(avail_event(b), b->avail);
		assert_int_equal(used_index(b), (uint16_t)(i + 1));
	}
	assert_false(b->broken);
}

/* While the queue has requests, the device wants no notifications: it does not advance the event index. */
static void test_kicks_suppressed(void **state)
{
	struct bench *b = *state;

	assert_int_equal(virtq_pop(&b->q, &b->rq), 0);
	assert_int_equal(avail_event(b), 0);
	desc(b, DESC, 0, DATA, 8, WRITE, 0);
	for (unsigned i = 0; i < 4; i++)
		offer(b, 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
		assert_int_equal(avail_event(b), 0);
		virtq_push(&b->rq, 0);
	}
	assert_int_equal(virtq_pop(&b->q, &b->rq), 0);
	assert_int_equal(avail_event(b), 4);
	virtq_kicks(&b->q, false);
	offer(b, 0);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
	virtq_push(&b->rq, 0);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 0);
	assert_int_equal(avail_event(b), 4);
	virtq_kicks(&b->q, true);
	assert_int_equal(virtq_pop(&b->q, &b->rq), 0);
	assert_int_equal(avail_event(b), 5);
}

static void test_without_event_index(void **state)
{
	struct bench *b = *state;

	virtq_stop(&b->q);
	b->place.event_index = false;
	assert_int_equal(virtq_start(&b->q, &b->place), 0);
	assert_true(serve_one(b));
	put(b, AVAIL, 1, 2); /* no interrupts */
	assert_false(serve_one(b));
	assert_int_equal(get(b, USED, 2), 0);
	virtq_kicks(&b->q, false);
	assert_int_equal(get(b, USED, 2), 1);
	virtq_kicks(&b->q, true);
	assert_int_equal(get(b, USED, 2), 0);
}

/* If a device serves 65536 requests without virtq_interrupt(), the interrupt for which the driver waits is not lost. */
static void test_late_interrupt(void **state)
{
	struct bench *b = *state;

	want_interrupt_at(b, 0x4000);
	desc(b, DESC, 0, DATA, 8, WRITE, 0);
	for (unsigned i = 0; i < 65536; i++) {
		offer(b, 0);
		assert_int_equal(virtq_pop(&b->q, &b->rq), 1);
		virtq_push(&b->rq, 0);
	}
	virtq_interrupt(&b->q);
	assert_int_equal(b->interrupts, 1);
}

/* ---- what a driver may not do ---- */

static void expect_broken(struct bench *b, const char *why)
{
	assert_int_equal(virtq_pop(&b->q, &b->rq), -1);
	assert_true(b->broken);
	assert_string_equal(b->why, why);
	/* Nothing more is served. */
	desc(b, DESC, 0, DATA, 8, WRITE, 0);
	assert_int_equal(virtq_pop(&b->q, &b->rq), -1);
	assert_int_equal(used_index(b), 0);
	assert_false(dma_busy(&b->dma));
}

struct chain_desc {
	uint64_t gpa;
	uint32_t len;
	uint16_t flags, next;
};

/* Each chain that is wrong, with the descriptors from number `head` on, and the indirect table's. */
static const struct {
	const char *why;
	uint16_t head;
	struct chain_desc desc[2], table[2];
} malformed[] = {
	{"the chain has a loop or is too long", 0, {{DATA, 8, NEXT, 1}, {DATA, 8, NEXT, 0}}, {{0}}},
	{"the chain has a loop or is too long", 3, {{DATA, 8, NEXT | WRITE, 3}}, {{0}}},
	{"the chain has a loop or is too long", 0, {{TABLE, 32, INDIRECT, 0}}, {{DATA, 8, NEXT, 1}, {DATA, 8, NEXT, 0}}},
	{"the number of a descriptor is beyond the end of its table", SIZE, {{0}}, {{0}}},
	{"the number of a descriptor is beyond the end of its table", 0, {{DATA, 8, NEXT, 0xffff}}, {{0}}},
	{"the number of a descriptor is beyond the end of its table", 0, {{TABLE, 32, INDIRECT, 0}}, {{DATA, 8, NEXT, 2}}},
	{"a descriptor's buffer is not in guest RAM", 0, {{RAM_LEN, 1, WRITE, 0}}, {{0}}},
	{"a descriptor's buffer is not in guest RAM", 0, {{RAM_LEN - 1, 2, WRITE, 0}}, {{0}}},
	{"a descriptor's buffer is not in guest RAM", 0, {{UINT64_MAX, 1, WRITE, 0}}, {{0}}},
	{"a descriptor's buffer is not in guest RAM", 0, {{UINT64_MAX - 7, 16, WRITE, 0}}, {{0}}},
	{"a descriptor's buffer is not in guest RAM", 0, {{0, UINT32_MAX, WRITE, 0}}, {{0}}},
	{"a descriptor's buffer is not in guest RAM", 0, {{1ull << 40, 8, WRITE, 0}}, {{0}}},
	{"a descriptor has length 0", 0, {{DATA, 8, NEXT, 1}, {DATA, 0, WRITE, 0}}, {{0}}},
	{"a readable descriptor follows a writable one", 0, {{DATA, 8, NEXT | WRITE, 1}, {DATA, 8, 0, 0}}, {{0}}},
	{"an indirect table leads to another indirect table", 0, {{TABLE, 16, INDIRECT, 0}}, {{TABLE, 16, INDIRECT, 0}}},
	{"a descriptor follows an indirect table", 0, {{TABLE, 16, INDIRECT | NEXT, 1}}, {{0}}},
	{"an indirect table's length is no multiple of a descriptor's length", 0, {{TABLE, 0, INDIRECT, 0}}, {{0}}},
	{"an indirect table's length is no multiple of a descriptor's length", 0, {{TABLE, 1, INDIRECT, 0}}, {{0}}},
	{"an indirect table's length is no multiple of a descriptor's length", 0, {{TABLE, 15, INDIRECT, 0}}, {{0}}},
	{"an indirect table's length is no multiple of a descriptor's length", 0, {{TABLE, 17, INDIRECT, 0}}, {{0}}},
	{"an indirect table is not in guest RAM", 0, {{UINT64_MAX - 15, 32, INDIRECT, 0}}, {{0}}},
};

static void put_chain(struct bench *b, uint64_t table, unsigned first, const struct chain_desc *d)
{
	for (unsigned i = 0; i < 2; i++)
		desc(b, table, first + i, d[i].gpa, d[i].len, d[i].flags, d[i].next);
}

static void test_malformed_chains(void **state)
{
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		setup(state);
		put_chain(*state, DESC, malformed[i].head, malformed[i].desc);
		put_chain(*state, TABLE, 0, malformed[i].table);
		offer(*state, malformed[i].head);
		expect_broken(*state, malformed[i].why);
		teardown(state);
	}
}

static void test_indirect_not_negotiated(void **state)
{
	struct bench *b = *state;

	virtq_stop(&b->q);
	b->place.indirect = false;
	assert_int_equal(virtq_start(&b->q, &b->place), 0);
	desc(b, DESC, 0, TABLE, 16, INDIRECT, 0);
	offer(b, 0);
	expect_broken(b, "the driver uses an indirect table, but has not negotiated that");
}

static void test_index_jumps(void **state)
{
	struct bench *b = *state;

	put(b, AVAIL + 2, SIZE + 1, 2);
	expect_broken(b, "the available index is out of range");
}

static void test_index_goes_back(void **state)
{
	struct bench *b = *state;

	put(b, AVAIL + 2, 0xffff, 2);
	expect_broken(b, "the available index is out of range");
}

static void test_bad_places(void **state)
{
	static const struct virtq_place bad[] = {
		{0, DESC, AVAIL, USED, true, true},
		{3, DESC, AVAIL, USED, true, true},
		{2 * VIRTQ_MAX_SIZE, DESC, AVAIL, USED, true, true},
		{SIZE, DESC + 8, AVAIL, USED, true, true},
		{SIZE, DESC, AVAIL + 1, USED, true, true},
		{SIZE, DESC, AVAIL, USED + 2, true, true},
		{SIZE, RAM_LEN - 16 * SIZE + 16, AVAIL, USED, true, true},
		{SIZE, DESC, RAM_LEN - 4, USED, true, true},
		/* Without the last two bytes, which are the event index. */
		{SIZE, DESC, AVAIL, RAM_LEN - 4 - 8 * SIZE, true, true},
		{SIZE, DESC, AVAIL, UINT64_MAX - 3, true, true},
	};
	struct bench *b = *state;

	virtq_stop(&b->q);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(virtq_start(&b->q, &bad[i]), -1);
		assert_int_equal(virtq_pop(&b->q, &b->rq), -1);
	}
	assert_false(b->broken);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_request),
		TEST(test_iov),
		TEST(test_indirect),
		TEST(test_longest),
		TEST(test_unpop),
		TEST(test_put_and_publish),
		TEST(test_stale_request),
		TEST(test_held),
		TEST(test_flight),
		TEST(test_each_field_is_read_once),
		TEST(test_interrupt_at_event),
		TEST(test_indices_wrap),
		TEST(test_kicks_suppressed),
		TEST(test_without_event_index),
		TEST(test_late_interrupt),
		cmocka_unit_test(test_malformed_chains),
		TEST(test_indirect_not_negotiated),
		TEST(test_index_jumps),
		TEST(test_index_goes_back),
		TEST(test_bad_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
