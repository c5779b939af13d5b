// SPDX-License-Identifier: GPL-2.0-or-later
/* Accesses of devices during a window: to data, which are conflicts, and to a ring, which are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/detect/detect_rig.h"

#define IRQS_ON (1ull << 9) /* RFLAGS.IF */

static int setup(void **state)
{
	*state = rig_new(2, 4);
	return *state ? 0 : -1;
}

static int setup_alone(void **state)
{
	*state = rig_new(1, 4);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	assert_int_equal(r->ft->misuses, 0);
	if (rig_open_windows(r) == 0)
		assert_int_equal(atomic_load(&r->ft->device_filter), 0);
	rig_free(r);
	return 0;
}

/* A device's access to RIG_DATA + offset. */
static struct device_access device(uint64_t offset, uint32_t len, bool write)
{
	return (struct device_access){
		.request = {.type = "virtio-blk",
			    .queue = 1,
			    .head = 7,
			    .op = write ? DEVICE_BLK_READ : DEVICE_BLK_WRITE,
			    .sector = 8192,
			    .tid = 4711,
			    .thread = "virtio-blk 0"},
		.gpa = RIG_DATA_GPA + offset,
		.len = len,
		.write = write,
		.descriptor = 1,
	};
}

/* Let CPU 0 hit a point before an access to 8 bytes at RIG_DATA. */
static enum target_action_kind access_data(struct rig *r, bool write)
{
	struct x86_regs regs = rig_regs(r, 0, 0);

	if (write)
		rig_plant(r, 0, WRITE_8);
	else
		rig_plant(r, 0, READ_8);
	return rig_hit(r, 0, &regs).kind;
}

static void in_flight(struct rig *r, const struct device_access *access)
{
	r->ft->segments[r->ft->segment_count++] = *access;
}

static const struct observation *expect_conflict(struct rig *r, const struct device_access *access)
{
	const struct observation *o = rig_observation(r);

	assert_non_null(o);
	assert_int_equal(o->how, RACE_BY_DEVICE);
	assert_true(o->sides[0].kind == RACE_SIDE_CPU);
	assert_int_equal(o->sides[0].pc, RIG_TEXT);
	assert_false(o->sides[1].kind == RACE_SIDE_CPU);
	assert_true(o->sides[1].kind == RACE_SIDE_DEVICE);
	assert_int_equal(o->sides[1].rw, access->write ? INSN_WRITE : INSN_READ);
	assert_memory_equal(&o->sides[1].device.request, &access->request, sizeof(access->request));
	assert_int_equal(o->sides[1].device.descriptor, access->descriptor);
	assert_null(rig_observation(r));
	assert_int_equal(rig_open_windows(r), 0);
	assert_int_equal(fake_watch_count(r->ft), 0);
	assert_false(rig_has_point(r, 0));
	assert_int_equal(rig_stats(r).conflicts, 1);
	assert_int_equal(rig_stats(r).device_conflicts, 1);
	return o;
}

static void expect_nothing(struct rig *r)
{
	struct x86_regs regs = rig_regs(r, 0, 0);

	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_open_windows(r), 0);
	assert_null(rig_observation(r));
	assert_int_equal(rig_stats(r).conflicts, 0);
}

/* ---- the device's request is under way before the hit ---- */

static void test_read_of_what_a_device_fills(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(4, 512, true);
	const struct observation *o;

	rig_store(r, 0, "ABCDEFGH", 8);
	in_flight(r, &access);
	assert_int_equal(access_data(r, false), TARGET_RESUME);
	o = expect_conflict(r, &access);
	/* The side keeps the part of the device's access that overlaps the CPU's. */
	assert_int_equal(o->sides[1].device.gpa, RIG_DATA_GPA + 4);
	assert_int_equal(o->sides[1].device.len, 4);
	assert_memory_equal(o->before, "ABCDEFGH", 8);
	assert_memory_equal(o->after, "ABCDEFGH", 8);
	assert_int_equal(o->gpa, RIG_DATA_GPA);
	assert_true(o->window.known);
	assert_int_equal(o->window.hold_ns, 0);
	/* The CPU was not held, so the detector must not release it. A release would end the CPU's next hold. */
	assert_int_equal(r->ft->releases[0], 0);
	assert_int_equal(r->ft->watch_sets, 0);
}

static void test_write_of_what_a_device_reads(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(0, 8, false);

	in_flight(r, &access);
	assert_int_equal(access_data(r, true), TARGET_RESUME);
	expect_conflict(r, &access);
}

static void test_two_reads(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(0, 8, false);

	in_flight(r, &access);
	assert_int_equal(access_data(r, false), TARGET_HOLD);
	assert_true(fake_device_begins(r->ft, &access));
	assert_int_equal(rig_open_windows(r), 1);
	expect_nothing(r);
}

static void test_neighbours_in_flight(void **state)
{
	struct rig *r = *state;
	struct device_access before = device(0x100 - 16, 16, true), behind = device(0x108, 512, true);
	struct x86_regs regs = rig_regs(r, 0, 0);

	regs.gpr[X86_RDI] = RIG_DATA + 0x100;
	in_flight(r, &before);
	in_flight(r, &behind);
	rig_plant(r, 0, WRITE_8);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_HOLD);
	expect_nothing(r);
}

static void test_segment_without_bytes(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(4, 0, true);

	in_flight(r, &access);
	assert_int_equal(access_data(r, false), TARGET_HOLD);
	fake_device_begins(r->ft, &access);
	expect_nothing(r);
}

/* The CPU must not be held now. The device's request is under way, so the detector finds the conflict without a hold. */
static void test_with_interrupts_off(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(0, 8, true);
	struct x86_regs regs = rig_regs(r, 0, 0);

	regs.rflags &= ~IRQS_ON;
	rig_rest(r, 0, UINT64_MAX);
	in_flight(r, &access);
	rig_plant(r, 0, READ_8);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME);
	expect_conflict(r, &access);
}

/* The same for the last CPU that runs, which must not be held either. */
static void test_last_cpu(void **state)
{
	struct rig *r = *state;
	struct x86_regs held = rig_regs(r, 1, 0x100), regs = rig_regs(r, 0, 0);
	struct device_access access = device(0, 8, true);

	held.gpr[X86_RDI] = RIG_DATA + 0x2000;
	rig_plant(r, 0x100, READ_8);
	assert_int_equal(rig_hit(r, 1, &held).kind, TARGET_HOLD);
	in_flight(r, &access);
	rig_plant(r, 0, READ_8);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_observation(r)->how, RACE_BY_DEVICE);
	assert_true(rig_window_is_open(r, 1));
	assert_int_equal(rig_stats(r).skipped_last, 0);
	/* The filter keeps the memory of the open window, and does not have the memory of the hit that opened none. */
	assert_int_equal(atomic_load(&r->ft->device_filter), device_filter(RIG_DATA_GPA + 0x2000, 8));
	assert_int_equal(rig_hold_end(r, 1, &held).kind, TARGET_RESUME);
}

/* ---- the device comes while a CPU is held ---- */

static void test_device_begins_to_write(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(0, 4096, true);

	assert_int_equal(access_data(r, false), TARGET_HOLD);
	assert_true(fake_device_begins(r->ft, &access));
	assert_int_equal(expect_conflict(r, &access)->window.hold_ns, RIG_DELAY_NS);
	assert_int_equal(r->ft->releases[0], 1);
	/* A second access, by this device or another, finds no open window. */
	assert_false(fake_device_begins(r->ft, &access));
}

/* A device that reads changes no memory. It conflicts all the same, because the CPU's write may change what it reads. */
static void test_device_begins_to_read(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(7, 1, false);

	assert_int_equal(access_data(r, true), TARGET_HOLD);
	assert_true(fake_device_begins(r->ft, &access));
	assert_int_equal(expect_conflict(r, &access)->sides[1].device.gpa, RIG_DATA_GPA + 7);
}

static void test_device_beside_the_datum(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(8, 512, true);

	assert_int_equal(access_data(r, true), TARGET_HOLD);
	assert_true(fake_device_begins(r->ft, &access)); /* the same page */
	access = device(0x5000, 512, true);
	assert_false(fake_device_begins(r->ft, &access));
	expect_nothing(r);
}

/* One request may hit the windows of several CPUs. */
static void test_two_windows(void **state)
{
	struct rig *r = rig_new(3, 4);
	struct x86_regs one = rig_regs(r, 0, 0), two = rig_regs(r, 1, 0x100);
	struct device_access access = device(0, 4096, true);

	(void)state;
	two.gpr[X86_RDI] = RIG_DATA + 0x800;
	rig_plant(r, 0, READ_8);
	rig_plant(r, 0x100, READ_8);
	assert_int_equal(rig_hit(r, 0, &one).kind, TARGET_HOLD);
	assert_int_equal(rig_hit(r, 1, &two).kind, TARGET_HOLD);
	assert_true(fake_device_begins(r->ft, &access));
	assert_int_equal(rig_open_windows(r), 0);
	assert_int_equal(rig_observation(r)->sides[0].cpu, 0);
	assert_int_equal(rig_observation(r)->sides[0].cpu, 1);
	assert_int_equal(r->ft->releases[0] + r->ft->releases[1], 2);
	assert_int_equal(r->ft->misuses, 0);
	rig_free(r);
}

/* The datum spans two pages, so it has two GPAs. */
static void test_second_page(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);
	struct device_access access = device(0, 8, true);
	const struct observation *o;

	fake_map(r->ft, r->guest.cr3, 4, RIG_DATA + 0x1000, RIG_DATA_GPA + 0x6000, X86_PAGE_SIZE, 12);
	regs.gpr[X86_RDI] = RIG_DATA + 0xffc;
	rig_plant(r, 0, WRITE_8);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_HOLD);
	access.gpa = RIG_DATA_GPA + 0x1000;
	fake_device_begins(r->ft, &access);
	assert_int_equal(rig_open_windows(r), 1);
	access.gpa = RIG_DATA_GPA + 0x6002;
	assert_true(fake_device_begins(r->ft, &access));
	o = expect_conflict(r, &access);
	assert_int_equal(o->sides[1].device.gpa, RIG_DATA_GPA + 0x6002);
	assert_int_equal(o->sides[1].device.len, 2);
}

/* The guest has mapped other memory at the address, so the held access no longer goes to the memory of the device. */
static void test_mapping_changed(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);
	struct device_access access = device(0, 4096, true);

	access.gpa = RIG_USER_GPA;
	regs.gpr[X86_RDI] = RIG_USER;
	rig_plant(r, 0, WRITE_8);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_HOLD);
	fake_map(r->ft, r->guest.cr3, 4, RIG_USER, RIG_USER_GPA + 0x2000, X86_PAGE_SIZE, 12);
	assert_true(fake_device_begins(r->ft, &access));
	assert_int_equal(rig_open_windows(r), 1);
	expect_nothing(r);
}

static void device_during_sync(void *ctx, unsigned self)
{
	struct rig *r = ctx;
	struct device_access access = device(0, 8, true);

	(void)self;
	assert_true(fake_device_begins(r->ft, &access));
}

/* The device's access closes the window before its watches are in force. The release ends the hold that comes after it. */
static void test_device_comes_first(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(0, 8, true);
	struct x86_regs regs = rig_regs(r, 0, 0);

	r->ft->on_sync = device_during_sync;
	r->ft->hook_ctx = r;
	assert_int_equal(access_data(r, false), TARGET_HOLD);
	expect_conflict(r, &access);
	assert_int_equal(r->ft->releases[0], 1);
	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
	assert_null(rig_observation(r));
}

/* ---- rings ---- */

static void test_ring_store_is_explained(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(2, 2, true);

	assert_int_equal(access_data(r, false), TARGET_HOLD);
	assert_true(fake_device_ring(r->ft, &access));
	rig_store(r, 2, "xy", 2);
	expect_nothing(r);
	assert_int_equal(r->ft->barriers, 0);
	assert_int_equal(rig_stats(r).ring_accesses, 1);
}

/* The device's store is under way when the window opens, and changes memory after the window's first read of it. */
static void test_ring_store_under_way(void **state)
{
	struct rig *r = *state;

	r->ft->stores[r->ft->store_count++] = device(2, 2, true);
	assert_int_equal(access_data(r, true), TARGET_HOLD);
	rig_store(r, 2, "xy", 2);
	expect_nothing(r);
	assert_int_equal(rig_stats(r).ring_accesses, 1);
}

/* A ring access explains a change in one window only. The next window starts without it. */
static void test_explained_once(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(0, 8, true);

	assert_int_equal(access_data(r, false), TARGET_HOLD);
	assert_true(fake_device_ring(r->ft, &access));
	expect_nothing(r);
	assert_int_equal(access_data(r, false), TARGET_HOLD);
	rig_store(r, 2, "xy", 2);
	assert_int_equal(rig_hold_end(r, 0, &(struct x86_regs){0}).kind, TARGET_RESUME);
	assert_int_equal(rig_observation(r)->how, RACE_BY_REREAD);
}

/* A byte after the end of the ring access changed too. No ring access explains that change. */
static void test_ring_and_other_bytes(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(0, 4, true);
	struct x86_regs regs = rig_regs(r, 0, 0);
	const struct observation *o;

	assert_int_equal(access_data(r, false), TARGET_HOLD);
	assert_true(fake_device_ring(r->ft, &access));
	rig_store(r, 3, "xy", 2);
	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
	o = rig_observation(r);
	assert_non_null(o);
	assert_int_equal(o->how, RACE_BY_REREAD);
	assert_false(o->sides[1].kind != RACE_SIDE_UNSEEN);
}

/* A load by the device does not explain a change. */
static void test_ring_load(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(0, 8, false);
	struct x86_regs regs = rig_regs(r, 0, 0);

	assert_int_equal(access_data(r, true), TARGET_HOLD);
	assert_true(fake_device_ring(r->ft, &access));
	assert_int_equal(rig_stats(r).ring_accesses, 1);
	assert_int_equal(rig_open_windows(r), 1);
	rig_store(r, 0, "x", 1);
	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_observation(r)->how, RACE_BY_REREAD);
}

/* A window on a ring still finds other conflicts, here with another CPU's access. */
static void test_ring_hides_nothing_else(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(0, 8, true);
	struct x86_regs other = rig_regs(r, 1, 0x100);

	assert_int_equal(access_data(r, true), TARGET_HOLD);
	assert_true(fake_device_ring(r->ft, &access));
	assert_int_equal(rig_watch_hit(r, 1, &other, rig_cookie(r, 0)).kind, TARGET_RESUME);
	assert_int_equal(rig_observation(r)->how, RACE_BY_WATCH);
}

/* ---- how long a window stays open ---- */

/* All other CPUs sleep, but a device is at work. */
static void test_not_idle_with_a_busy_device(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	atomic_store(&r->ft->devices_busy, true);
	assert_int_equal(access_data(r, false), TARGET_HOLD);
	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_HOLD);
	assert_int_equal(rig_stats(r).cut_idle, 0);
	assert_int_equal(rig_open_windows(r), 1);
	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
	atomic_store(&r->ft->devices_busy, false);
	assert_int_equal(access_data(r, false), TARGET_HOLD);
	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_stats(r).cut_idle, 1);
}

static void test_single_cpu(void **state)
{
	struct rig *r = *state;
	struct device_access access = device(0, 8, true);
	struct x86_regs regs = rig_regs(r, 0, 0);

	assert_int_equal(access_data(r, false), TARGET_HOLD);
	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_HOLD);
	assert_true(fake_device_begins(r->ft, &access));
	expect_conflict(r, &access);
}

/* ---- the filter ---- */

static void test_filter(void **state)
{
	(void)state;
	assert_int_equal(device_filter(0, 1), 1);
	assert_int_equal(device_filter(0xfff, 1), 1);
	assert_int_equal(device_filter(0xfff, 2), 3);
	assert_int_equal(device_filter(0x3f000, 0x1000), 1ull << 63);
	assert_int_equal(device_filter(0x3f000, 0x1001), 1ull << 63 | 1);
	assert_int_equal(device_filter(0x100000001000, 0x3f000), ~1ull);
	assert_int_equal(device_filter(0x1000, 0x3f001), UINT64_MAX);
	assert_int_equal(device_filter(0x1fff, 1ull << 40), UINT64_MAX);
	assert_int_equal(device_filter(0x5000, 0), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_read_of_what_a_device_fills),
		TEST(test_write_of_what_a_device_reads),
		TEST(test_two_reads),
		TEST(test_neighbours_in_flight),
		TEST(test_segment_without_bytes),
		TEST(test_with_interrupts_off),
		TEST(test_last_cpu),
		TEST(test_device_begins_to_write),
		TEST(test_device_begins_to_read),
		TEST(test_device_beside_the_datum),
		TEST(test_two_windows),
		TEST(test_second_page),
		TEST(test_mapping_changed),
		TEST(test_device_comes_first),
		TEST(test_ring_store_is_explained),
		TEST(test_ring_store_under_way),
		TEST(test_explained_once),
		TEST(test_ring_and_other_bytes),
		TEST(test_ring_load),
		TEST(test_ring_hides_nothing_else),
		TEST(test_not_idle_with_a_busy_device),
		cmocka_unit_test_setup_teardown(test_single_cpu, setup_alone, teardown),
		cmocka_unit_test(test_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
