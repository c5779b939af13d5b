// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Suspected pairs of sites are armed in turns while all else is sampled, held for longer, and counted. The test is the
 * sampler's thread and the guest, and time is what the test says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/detect/core/hook.h"
#include "hv/detect/core/state.h"
#include "hv/detect/steer/confirm.h"
#include "hv/detect/steer/pool.h"
#include "hv/detect/window/hook_hit.h"
#include "tests/unit/detect/detect_rig.h"

#define A 0x0u
#define B 0x100u
#define C 0x200u
#define SIZE 0x100u
#define TURN_NS 200000000u
#define TURNS 64u

static int setup(void **state)
{
	static const struct symbol functions[] = {
		{.name = "a", .addr = RIG_TEXT + A, .size = SIZE, .type = 't'},
		{.name = "b", .addr = RIG_TEXT + B, .size = SIZE, .type = 't'},
		{.name = "c", .addr = RIG_TEXT + C, .size = SIZE, .type = 't'},
	};
	struct rig *r = rig_new(2, 4);
	struct err err = {0};

	*state = r;
	if (!r)
		return -1;
	rig_code(r, A, READ_8);
	rig_code(r, B, WRITE_8);
	rig_code(r, C, WRITE_8);
	rig_functions(r, functions, 3);
	return pool_add(r->d->sampler.pool, NULL, guest_symtab(&r->guest), RIG_TEXT, RIG_TEXT + 3 * SIZE, &err) == 3 ? 0 : -1;
}

static int teardown(void **state)
{
	rig_free(*state);
	return 0;
}

static void step(struct rig *r, uint64_t now)
{
	target_enter(r->d->target);
	confirm_step(r->d, now);
	target_leave(r->d->target);
}

static void pair_is_kept_once(void **state)
{
	struct rig *r = *state;
	uint64_t reached[2];

	assert_true(detect_confirm(r->d, RIG_TEXT + A, RIG_TEXT + B));
	assert_false(detect_confirm(r->d, RIG_TEXT + B, RIG_TEXT + A));
	assert_true(detect_confirm_reached(r->d, RIG_TEXT + A, RIG_TEXT + B, reached));
	detect_confirm_end(r->d, RIG_TEXT + B, RIG_TEXT + A);
	assert_false(detect_confirm_reached(r->d, RIG_TEXT + A, RIG_TEXT + B, reached));
}

static void only_so_many_pairs_are_kept(void **state)
{
	struct rig *r = *state;

	for (unsigned i = 0; i < CONFIRM_PAIRS_MAX; i++)
		assert_true(detect_confirm(r->d, RIG_TEXT + A, RIG_TEXT + 0x1000 + i));
	assert_false(detect_confirm(r->d, RIG_TEXT + A, RIG_TEXT + B));
}

/* In some turns each side is armed alone, in others both are, and what is in no pair never is. */
static void sites_are_armed_in_turns(void **state)
{
	struct rig *r = *state;
	uint64_t now = monotonic_ns();
	unsigned only_a = 0, only_b = 0, both = 0;

	assert_true(detect_confirm(r->d, RIG_TEXT + A, RIG_TEXT + B));
	for (unsigned turn = 0; turn < TURNS; turn++, now += TURN_NS) {
		struct x86_regs regs;
		bool a, b;

		step(r, now);
		a = rig_has_point(r, A);
		b = rig_has_point(r, B);
		assert_false(rig_has_point(r, C));
		only_a += a && !b;
		only_b += b && !a;
		both += a && b;
		for (unsigned i = 0; i < 2; i++) {
			if (!(i ? b : a))
				continue;
			regs = rig_regs(r, 0, i ? B : A);
			if (rig_hit(r, 0, &regs).kind == TARGET_HOLD)
				rig_hold_end(r, 0, &regs);
		}
	}
	assert_true(only_a >= TURNS / 8);
	assert_true(only_b >= TURNS / 8);
	assert_true(both >= TURNS / 4);
}

static void both_sides_are_counted(void **state)
{
	struct rig *r = *state;
	uint64_t reached[2];
	struct x86_regs regs;

	assert_true(detect_confirm(r->d, RIG_TEXT + A, RIG_TEXT + B));
	for (unsigned i = 0; i < 3; i++) {
		rig_plant(r, i ? B : A, i ? "\x48\x89\x07" : "\x48\x8b\x07", 3);
		regs = rig_regs(r, 0, i ? B : A);
		if (rig_hit(r, 0, &regs).kind == TARGET_HOLD)
			rig_hold_end(r, 0, &regs);
	}
	assert_true(detect_confirm_reached(r->d, RIG_TEXT + A, RIG_TEXT + B, reached));
	assert_int_equal(reached[0], 1);
	assert_int_equal(reached[1], 2);
	assert_true(detect_confirm_reached(r->d, RIG_TEXT + B, RIG_TEXT + A, reached));
	assert_int_equal(reached[0], 2);
	assert_int_equal(reached[1], 1);
}

/* With preemption off a window is random and under a millisecond, but for a site of a pair it is a whole one. */
static void softirq_is_held_for_long(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, A);

	r->guest.context = (struct guest_context){.known = true, .preempt_off = true, .kind = GUEST_SOFTIRQ};
	rig_plant(r, A, READ_8);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_HOLD);
	assert_true(rig_window_ns(r, 0) < 1000000);
	rig_hold_end(r, 0, &regs);

	assert_true(detect_confirm(r->d, RIG_TEXT + A, RIG_TEXT + B));
	rig_plant(r, A, READ_8);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_HOLD);
	assert_int_equal(rig_window_ns(r, 0), RIG_DELAY_NS);
	rig_hold_end(r, 0, &regs);
}

static void interrupts_off_stays_under_a_millisecond(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, A);

	r->guest.context = (struct guest_context){.known = true, .preempt_off = true, .kind = GUEST_TASK};
	regs.rflags &= ~(uint64_t)X86_RFLAGS_IF;
	assert_true(detect_confirm(r->d, RIG_TEXT + A, RIG_TEXT + B));
	rig_plant(r, A, READ_8);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_HOLD);
	assert_int_equal(rig_window_ns(r, 0), 1000000);
	rig_hold_end(r, 0, &regs);
}

static void pairs_go_with_their_text(void **state)
{
	struct rig *r = *state;
	uint64_t reached[2];

	assert_true(detect_confirm(r->d, RIG_TEXT + A, RIG_TEXT + B));
	assert_true(detect_confirm(r->d, RIG_TEXT + A, RIG_TEXT + C));
	detect_enter(r->d);
	hook_text_gone(r->d, RIG_TEXT + B, SIZE);
	detect_leave(r->d);
	assert_false(detect_confirm_reached(r->d, RIG_TEXT + A, RIG_TEXT + B, reached));
	assert_true(detect_confirm_reached(r->d, RIG_TEXT + A, RIG_TEXT + C, reached));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pair_is_kept_once, setup, teardown),
		cmocka_unit_test_setup_teardown(only_so_many_pairs_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(sites_are_armed_in_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(both_sides_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(softirq_is_held_for_long, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupts_off_stays_under_a_millisecond, setup, teardown),
		cmocka_unit_test_setup_teardown(pairs_go_with_their_text, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
