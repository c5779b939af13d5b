/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entropy device as its driver sees it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/vmm/rng/virtio_rng.h"
#include "tests/unit/vmm/device_rig.h"

static struct rig *rig;

static int setup(void **state)
{
	struct err err = {0};

	rig = rig_init();
	*state = virtio_rng_new(&rig->bus, 0, &err);
	assert_non_null(*state);
	rig_activate();
	return 0;
}

static int teardown(void **state)
{
	virtio_rng_free(*state);
	rig_destroy();
	return 0;
}

static unsigned zeros(uint64_t gpa, unsigned len)
{
	const unsigned char *bytes = rig_at(gpa);
	unsigned n = 0;

	for (unsigned i = 0; i < len; i++)
		n += bytes[i] == 0;
	return n;
}

static void test_fills(void **state)
{
	const struct rig_buffer pieces[] = {{RIG_BUFFERS, 7, true}, {RIG_BUFFERS + 0x1000, 57, true}};
	uint16_t head;
	uint32_t len;
	char before[64];

	(void)state;
	rig_add(0, pieces, 2);
	rig_kick(0);
	assert_true(rig_used(0, &head, &len));
	assert_int_equal(len, 64);
	/* 57 random bytes practically never have more than 20 zeros. */
	assert_in_range(zeros(RIG_BUFFERS + 0x1000, 57), 0, 20);
	assert_int_equal(zeros(RIG_BUFFERS + 7, 0x1000 - 7), 0x1000 - 7);
	memcpy(before, rig_at(RIG_BUFFERS + 0x1000), 57);
	rig_add(0, pieces, 2);
	rig_kick(0);
	assert_true(rig_used(0, &head, &len));
	assert_memory_not_equal(before, rig_at(RIG_BUFFERS + 0x1000), 57);
	assert_false(rig_used(0, &head, &len));
}

/* The accesses that the device reports for a request. It fills a limited number of bytes, and reports exactly these. */
struct seen {
	uint64_t bytes;
	enum device_op op;
	bool write;
};

static void on_segment(void *ctx, const struct device_access *access)
{
	struct seen *seen = ctx;

	seen->bytes += access->len;
	seen->op = access->request.op;
	seen->write = access->write;
}

static void on_ring(void *ctx, const struct device_access *access)
{
	(void)ctx;
	(void)access;
}

static void test_bounded_and_announced(void **state)
{
	struct seen seen = {0};
	const struct device_observer observer = {.segment = on_segment, .ring = on_ring, .ctx = &seen};
	uint16_t head;
	uint32_t len;

	(void)state;
	dma_observe(&rig->dma, &observer);
	dma_watch(&rig->dma, UINT64_MAX);
	rig_add(0, &(struct rig_buffer){RIG_BUFFERS, 8u << 20, true}, 1);
	rig_kick(0);
	dma_watch(&rig->dma, 0);
	dma_observe(&rig->dma, NULL);
	assert_true(rig_used(0, &head, &len));
	assert_in_range(len, 1, 256);
	assert_int_equal(seen.bytes, len);
	assert_int_equal(seen.op, DEVICE_RNG_FILL);
	assert_true(seen.write);
	assert_int_equal(zeros(RIG_BUFFERS + len, 0x10000), 0x10000);
}

static void test_wrong_requests(void **state)
{
	static const struct rig_buffer wrong[][2] = {
		{{RIG_BUFFERS, 64, false}},
		{{RIG_BUFFERS, 64, false}, {RIG_BUFFERS + 64, 64, true}},
	};
	uint16_t head;
	uint32_t len;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_null(rig->why);
		rig_add(0, wrong[i], i + 1);
		rig_kick(0);
		assert_non_null(rig->why);
		assert_false(rig_used(0, &head, &len));
		/* The device serves no request until the reset, and all requests after it. */
		rig_add(0, &(struct rig_buffer){RIG_BUFFERS, 64, true}, 1);
		rig_kick(0);
		assert_false(rig_used(0, &head, &len));
		rig_reset();
		rig_activate();
		rig_add(0, &(struct rig_buffer){RIG_BUFFERS, 64, true}, 1);
		rig_kick(0);
		assert_true(rig_used(0, &head, &len));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fills, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounded_and_announced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong_requests, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
