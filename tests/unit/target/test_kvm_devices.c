// SPDX-License-Identifier: GPL-2.0-or-later
/* Which accesses of devices the KVM target reports to its client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/target/fake_kvm.h"

struct heard {
	unsigned segments, rings;
	struct device_access last;
};

static void on_segment(void *ctx, const struct device_access *access)
{
	struct heard *h = ctx;

	h->segments++;
	h->last = *access;
}

static void on_ring(void *ctx, const struct device_access *access)
{
	struct heard *h = ctx;

	h->rings++;
	h->last = *access;
}

static const struct device_segment segment = {.gpa = 0x3000, .len = 512, .write = true, .descriptor = 1};

struct bench {
	struct vm *vm;
	struct heard heard;
	struct target_client client;
	struct dma_flight flight;
	struct dma_ring ring;
};

static int setup(void **state)
{
	static struct bench bench;
	struct bench *b = &bench;

	*b = (struct bench){.vm = fake_kvm_new(2, KVM_BP_INTERCEPT)};
	*state = b;
	if (!b->vm)
		return -1;
	b->client = (struct target_client){.on_device = on_segment, .on_ring = on_ring, .ctx = &b->heard};
	b->vm->target->client = &b->client;
	b->flight = (struct dma_flight){
		.by = {.type = "virtio-blk", .op = DEVICE_BLK_READ, .sector = 8192}, .segments = &segment, .count = 1};
	dma_ring_add(&b->vm->dma, &b->ring, &b->flight.by);
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	dma_ring_remove(&b->ring);
	fake_kvm_free(b->vm);
	return 0;
}

static void one_request(struct bench *b)
{
	dma_begin(&b->vm->dma, &b->flight);
	dma_end(&b->vm->dma, &b->flight);
	assert_int_equal(dma_ring_store16(&b->ring, 0x3800, 1), 0);
}

static void test_client_hears_of_watched_memory(void **state)
{
	struct bench *b = *state;

	assert_true(b->vm->target->caps.devices);
	one_request(b);
	assert_int_equal(b->heard.segments + b->heard.rings, 0);

	target_devices_watch(b->vm->target, device_filter(0x3000, 8));
	dma_begin(&b->vm->dma, &b->flight);
	assert_int_equal(b->heard.segments, 1);
	assert_int_equal(b->heard.last.gpa, 0x3000);
	assert_int_equal(b->heard.last.request.sector, 8192);
	dma_end(&b->vm->dma, &b->flight);
	assert_int_equal(dma_ring_store16(&b->ring, 0x3800, 1), 0);
	assert_int_equal(b->heard.rings, 1);
	assert_int_equal(b->heard.last.gpa, 0x3800);

	target_devices_watch(b->vm->target, 0);
	one_request(b);
	assert_int_equal(b->heard.segments + b->heard.rings, 2);
}

static void test_in_flight(void **state)
{
	struct bench *b = *state;
	struct heard look = {0};
	const struct device_observer observer = {.segment = on_segment, .ring = on_ring, .ctx = &look};

	assert_false(target_devices_busy(b->vm->target));
	dma_begin(&b->vm->dma, &b->flight);
	assert_true(target_devices_busy(b->vm->target));
	target_devices_watch(b->vm->target, device_filter(0x3000, 8));
	target_devices_in_flight(b->vm->target, &observer);
	assert_int_equal(look.segments, 1);
	assert_int_equal(look.last.descriptor, 1);
	/* Only the caller's callback got the report, not the client's. */
	assert_int_equal(b->heard.segments, 0);
	dma_end(&b->vm->dma, &b->flight);
	target_devices_in_flight(b->vm->target, &observer);
	assert_int_equal(look.segments, 1);
	assert_false(target_devices_busy(b->vm->target));
	b->vm->notified = true;
	assert_true(target_devices_busy(b->vm->target));
}

/* The client may be freed after the machine has ended, while devices still finish their work. */
static void test_over(void **state)
{
	struct bench *b = *state;

	target_devices_watch(b->vm->target, UINT64_MAX);
	kvm_target_over(b->vm->target);
	b->client = (struct target_client){0};
	target_devices_watch(b->vm->target, UINT64_MAX);
	one_request(b);
	assert_int_equal(b->heard.segments + b->heard.rings, 0);
}

static void test_no_client(void **state)
{
	struct bench *b = *state;

	b->vm->target->client = NULL;
	target_devices_watch(b->vm->target, UINT64_MAX);
	one_request(b);
	assert_int_equal(b->heard.segments + b->heard.rings, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_client_hears_of_watched_memory),
		TEST(test_in_flight),
		TEST(test_over),
		TEST(test_no_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
