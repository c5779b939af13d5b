/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gets of references that come after the last put: windows before LOCKed increments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/detect/detect_rig.h"

#define OTHER 0x40		     /* where a second sample point is in the text */
#define GET INSN("\xf0\xff\x07")     /* lock incl (%rdi) */
#define ADD INSN("\xf0\x0f\xc1\x07") /* lock xadd %eax,(%rdi) */
#define READ_4 INSN("\x8b\x07")
#define WRITE_4 INSN("\x89\x07")

static int setup(void **state)
{
	*state = rig_new(4, 4);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	assert_int_equal(r->ft->misuses, 0);
	rig_free(r);
	return 0;
}

static void set_count(struct rig *r, uint32_t count)
{
	rig_store(r, 0, &count, sizeof(count));
}

/* CPU 0 comes to a get, and `count` is what it increments. */
static struct target_action come(struct rig *r, uint32_t count, const void *code, size_t len, struct x86_regs *regs)
{
	*regs = rig_regs(r, 0, 0);
	set_count(r, count);
	rig_plant(r, 0, code, len);
	return rig_hit(r, 0, regs);
}

static void hold(struct rig *r, uint32_t count, struct x86_regs *regs)
{
	assert_int_equal(come(r, count, GET, regs).kind, TARGET_HOLD);
	assert_int_equal(rig_stats(r).get_windows, 1);
}

/* CPU 1 has written `count`. */
static void write_count(struct rig *r, uint32_t count)
{
	struct x86_regs other = rig_regs(r, 1, 0x123);

	set_count(r, count);
	assert_int_equal(rig_watch_hit(r, 1, &other, rig_cookie(r, 0)).kind, TARGET_RESUME);
}

static void test_last_put(void **state)
{
	struct rig *r = *state;
	const struct observation *o;
	struct x86_regs regs;

	hold(r, 2, &regs);
	assert_int_equal(fake_watch_count(r->ft), 1);
	assert_false(r->ft->watches[0].read);
	/* A put, a get, and two puts. */
	write_count(r, 1);
	write_count(r, 2);
	write_count(r, 1);
	assert_null(rig_observation(r));
	assert_true(rig_window_is_open(r, 0));
	write_count(r, 0);
	o = rig_observation(r);
	assert_non_null(o);
	assert_int_equal(o->how, RACE_BY_WATCH);
	assert_true(o->sides[0].locked);
	assert_int_equal(o->sides[0].rw, INSN_READ | INSN_WRITE);
	assert_int_equal(o->before[0], 2);
	assert_int_equal(o->after[0], 0);
	assert_false(rig_window_is_open(r, 0));
	assert_int_equal(rig_stats(r).conflicts, 1);
}

/* Others get and put references in the window, and some user is left. */
static void test_some_users_left(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs;

	hold(r, 1, &regs);
	set_count(r, 3);
	rig_hold_end(r, 0, &regs);
	rig_hold_end(r, 0, &regs);
	assert_false(rig_window_is_open(r, 0));
	assert_null(rig_observation(r));
	assert_int_equal(rig_stats(r).conflicts, 0);
}

static void test_counts_without_a_last_user(void **state)
{
	static const uint32_t counts[] = {0, 5, 0x80000000};
	struct rig *r = *state;
	struct x86_regs regs;

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(come(r, counts[i], GET, &regs).kind, TARGET_RESUME);
		assert_false(rig_has_point(r, 0));
		assert_int_equal(rig_stats(r).skipped_count, i + 1);
	}
	assert_int_equal(rig_stats(r).windows, 0);
}

/* An xadd is a get if it adds something. */
static void test_xadd(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	set_count(r, 1);
	regs.gpr[X86_RAX] = UINT32_MAX;
	rig_plant(r, 0, ADD);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME);
	regs.gpr[X86_RAX] = 1;
	rig_plant(r, 0, ADD);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_HOLD);
}

/* Another CPU comes to the get that is held: it makes it itself, because the two must not be one load and one store. */
static void test_another_get(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs, other = rig_regs(r, 1, 0);

	hold(r, 1, &regs);
	other.gpr[X86_RDI] += 64;
	assert_int_equal(rig_hit(r, 1, &other).kind, TARGET_RESUME);
	assert_false(rig_window_is_open(r, 0));
	assert_int_equal(rig_stats(r).cut_short, 1);
	assert_null(rig_observation(r));
}

/* Accesses at other sample points do not conflict with a get there. */
static void test_other_points(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs, other = rig_regs(r, 1, OTHER);

	hold(r, 1, &regs);
	rig_plant(r, OTHER, READ_4);
	assert_int_equal(rig_hit(r, 1, &other).kind, TARGET_HOLD);
	assert_true(rig_window_is_open(r, 0));
	assert_null(rig_observation(r));
}

/* A get of a count that another window watches goes on, so that the watchpoint sees it. */
static void test_get_in_a_window(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0), other = rig_regs(r, 1, OTHER);

	set_count(r, 1);
	rig_plant(r, 0, WRITE_4);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_HOLD);
	rig_plant(r, OTHER, GET);
	assert_int_equal(rig_hit(r, 1, &other).kind, TARGET_RESUME);
	assert_false(rig_has_point(r, OTHER));
	assert_int_equal(rig_open_windows(r), 1);
	other.rip += 3;
	assert_int_equal(rig_watch_hit(r, 1, &other, rig_cookie(r, 0)).kind, TARGET_RESUME);
	assert_int_equal(rig_observation(r)->how, RACE_BY_WATCH);
}

/* Each write of others costs a stop. */
static void test_many_writes(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs;
	unsigned writes = 0;

	hold(r, 1, &regs);
	while (rig_window_is_open(r, 0)) {
		assert_in_range(++writes, 1, 64);
		write_count(r, 2);
	}
	assert_int_equal(writes, 64);
	assert_int_equal(rig_stats(r).cut_short, 1);
	assert_int_equal(r->ft->releases[0], 1);
	assert_null(rig_observation(r));
}

/* The window's time is over, and the CPU that made the count 0 has not told its stop yet. */
static void test_late_stop(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs;

	hold(r, 1, &regs);
	set_count(r, 0);
	rig_hold_end(r, 0, &regs);
	rig_hold_end(r, 0, &regs);
	assert_int_equal(r->ft->barriers, 1);
	assert_null(rig_observation(r));
	assert_false(rig_window_is_open(r, 0));
}

/* Without a watchpoint, nothing can be seen. */
static void test_without_a_watchpoint(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	set_count(r, 1);
	regs.gpr[X86_RDI] = RIG_USER;
	fake_write(r->ft, RIG_USER_GPA, "\1\0\0", 4);
	rig_plant(r, 0, GET);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME);
	regs.gpr[X86_RDI] = RIG_DATA + 2; /* not aligned */
	rig_store(r, 2, "\1\0\0", 4);
	rig_plant(r, 0, GET);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_stats(r).skipped_count, 2);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_last_put),
		T(test_some_users_left),
		T(test_counts_without_a_last_user),
		T(test_xadd),
		T(test_another_get),
		T(test_other_points),
		T(test_get_in_a_window),
		T(test_many_writes),
		T(test_late_stop),
		T(test_without_a_watchpoint),
	};

	return cmocka_run_group_tests_name("detect: gets after the last put", tests, NULL, NULL);
}
