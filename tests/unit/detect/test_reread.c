/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a window whose memory has changed, although no watchpoint reported a write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/detect/detect_rig.h"

static int setup(void **state)
{
	*state = rig_new(2, 4);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	assert_int_equal(r->ft->misuses, 0);
	rig_free(r);
	return 0;
}

static struct x86_regs hold_at(struct rig *r, uint64_t gva)
{
	struct x86_regs regs = rig_regs(r, 0, 0);

	regs.gpr[X86_RDI] = gva;
	rig_plant(r, 0, WRITE_8);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_HOLD);
	return regs;
}

static void expect_end(struct rig *r, struct x86_regs *regs)
{
	assert_int_equal(rig_hold_end(r, 0, regs).kind, TARGET_RESUME);
	assert_int_equal(rig_open_windows(r), 0);
	assert_int_not_equal(rig_text_byte(r, 0), X86_INT3);
	assert_int_equal(fake_watch_count(r->ft), 0);
}

static void test_unchanged(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold_at(r, RIG_DATA);

	expect_end(r, &regs);
	assert_null(rig_observation(r));
	assert_int_equal(rig_stats(r).conflicts, 0);
}

static void test_changed(void **state)
{
	struct rig *r = *state;
	const struct observation *o;
	struct x86_regs regs;

	rig_store(r, 0, "ABCDEFGH", 8);
	regs = hold_at(r, RIG_DATA);
	rig_store(r, 7, "x", 1);

	expect_end(r, &regs);
	assert_int_equal(r->ft->barriers, 1); /* the detector first asked the other CPUs for unreported watchpoint hits */
	o = rig_observation(r);
	assert_non_null(o);
	assert_int_equal(o->how, RACE_BY_REREAD);
	assert_memory_equal(o->before, "ABCDEFGH", 8);
	assert_memory_equal(o->after, "ABCDEFGx", 8);
	assert_true(o->sides[0].kind == RACE_SIDE_CPU);
	assert_int_equal(o->sides[0].pc, RIG_TEXT);
	assert_false(o->sides[1].kind == RACE_SIDE_CPU);
	assert_null(rig_observation(r));
	assert_int_equal(rig_stats(r).conflicts, 1);
}

static void say_so(void *ctx, unsigned self)
{
	struct rig *r = ctx;
	struct x86_regs other = rig_regs(r, 1, 0x100);

	assert_int_equal(self, 0);
	assert_true(rig_window_is_open(r, 0));
	assert_int_equal(rig_watch_hit(r, 1, &other, rig_cookie(r, 0)).kind, TARGET_RESUME);
}

/* The CPU that wrote reports its watchpoint hit when the detector asks. The result is one race, not two. */
static void test_changed_by_watched(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold_at(r, RIG_DATA);
	const struct observation *o;

	r->ft->on_barrier = say_so;
	r->ft->hook_ctx = r;
	rig_store(r, 0, "x", 1);
	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
	o = rig_observation(r);
	assert_non_null(o);
	assert_int_equal(o->how, RACE_BY_WATCH);
	expect_end(r, &regs);
	assert_null(rig_observation(r));
	assert_int_equal(rig_stats(r).conflicts, 1);
	assert_int_equal(r->ft->barriers, 1);
}

/*
 * The question to the CPUs times out, so one of them may still have an unreported hit. The detector does not report an unseen
 * writer then, and keeps the CPU held until the answer.
 */
static void test_changed_by_late(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold_at(r, RIG_DATA);
	const struct observation *o;

	r->ft->barrier_gives_up = true;
	rig_store(r, 0, "x", 1);
	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_HOLD);
	assert_null(rig_observation(r));
	r->ft->barrier_gives_up = false;
	r->ft->on_barrier = say_so;
	r->ft->hook_ctx = r;
	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
	o = rig_observation(r);
	assert_non_null(o);
	assert_int_equal(o->how, RACE_BY_WATCH);
}

/* The wait for the answer is limited. Without an answer the detector counts the change as unexplained. */
static void test_changed_by_silent(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold_at(r, RIG_DATA);
	unsigned holds = 0;

	r->ft->barrier_gives_up = true;
	rig_store(r, 0, "x", 1);
	while (holds < 1000 && rig_hold_end(r, 0, &regs).kind == TARGET_HOLD)
		holds++;
	assert_in_range(holds, 1, 999);
	assert_false(rig_window_is_open(r, 0));
	assert_null(rig_observation(r));
	assert_int_equal(rig_stats(r).conflicts, 0);
	assert_int_equal(rig_stats(r).unexplained, 1);
}

static void store_back(void *ctx, unsigned self)
{
	(void)self;
	rig_store(ctx, 0, "\0", 1);
}

static void test_changed_and_back(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold_at(r, RIG_DATA);

	r->ft->on_barrier = store_back;
	r->ft->hook_ctx = r;
	rig_store(r, 0, "x", 1);
	expect_end(r, &regs);
	assert_null(rig_observation(r));
}

static void test_neighbour_changed(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold_at(r, RIG_DATA + 8);

	rig_store(r, 7, "x", 1);
	rig_store(r, 16, "x", 1);
	expect_end(r, &regs);
	assert_null(rig_observation(r));
}

/* No watch covers memory of user space, so the window waits for no watch. */
static void test_changed_unwatched(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold_at(r, RIG_USER + 8);
	const struct observation *o;

	fake_write(r->ft, RIG_USER_GPA + 8, "new", 3);
	expect_end(r, &regs);
	o = rig_observation(r);
	assert_non_null(o);
	assert_int_equal(o->how, RACE_BY_REREAD);
	assert_memory_equal(o->after, "new\0\0\0\0\0", 8);
}

static void test_second_page_changed(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold_at(r, RIG_USER + 0xffc);

	fake_write(r->ft, RIG_USER_GPA + 0x1003, "x", 1);
	expect_end(r, &regs);
	assert_memory_equal(rig_observation(r)->after, "\0\0\0\0\0\0\0x", 8);
}

/* The guest has mapped other memory at the address. Different bytes there prove no write. */
static void test_mapping_changed(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold_at(r, RIG_USER);

	fake_write(r->ft, RIG_USER_GPA + 0x2000, "other", 5);
	fake_map(r->ft, r->guest.cr3, 4, RIG_USER, RIG_USER_GPA + 0x2000, X86_PAGE_SIZE, 12);
	expect_end(r, &regs);
	assert_null(rig_observation(r));
}

static void test_mapping_gone(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold_at(r, RIG_USER);

	fake_write(r->ft, RIG_USER_GPA, "x", 1);
	fake_unmap(r->ft, r->guest.cr3, 4, RIG_USER);
	expect_end(r, &regs);
	assert_null(rig_observation(r));
}

static void store_during_sync(void *ctx, unsigned self)
{
	(void)self;
	rig_store(ctx, 0, "early", 5);
}

/* A change before the watches are in force on all CPUs does not count: a device or an unwatched CPU may have made it. */
static void test_changed_before_sync(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs;

	r->ft->on_sync = store_during_sync;
	r->ft->hook_ctx = r;
	regs = hold_at(r, RIG_DATA);
	expect_end(r, &regs);
	assert_null(rig_observation(r));
}

/* At the end of the hold the CPU is in an interrupt handler. The detector must not hold it there to wait for an answer. */
static void test_changed_elsewhere(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold_at(r, RIG_DATA);

	rig_store(r, 0, "x", 1);
	regs.rip += 0x800;
	expect_end(r, &regs);
	assert_int_equal(rig_observation(r)->how, RACE_BY_REREAD);
}

/* A hold ends whose window something else has closed before. */
static void test_end_without_window(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	assert_int_equal(rig_hold_end(r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_open_windows(r), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_unchanged),	     T(test_changed),		T(test_changed_by_watched),
		T(test_unchanged),	     T(test_changed),		T(test_changed_by_late),
		T(test_unchanged),	     T(test_changed),		T(test_changed_by_silent),
		T(test_changed_and_back),    T(test_neighbour_changed), T(test_changed_unwatched),
		T(test_second_page_changed), T(test_mapping_changed),	T(test_mapping_gone),
		T(test_changed_before_sync), T(test_changed_elsewhere), T(test_end_without_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
