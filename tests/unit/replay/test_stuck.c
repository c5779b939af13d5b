// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hangs on a toy machine: each of two CPUs is in a loop of some instructions, which interrupts or a number of slices may end.
 * It implements struct stuck_ops without KVM.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/replay/stuck.h"

#define LOOP 0x1000u
#define HANDLER 0x8000u
#define CALLER 0x5000u
#define TIMER 0xecu
#define INTERRUPTS_ON 0x200u

struct spinner {
	struct x86_regs regs;
	unsigned length;	 /* instructions of its loop */
	bool counts;		 /* Its loop counts its rounds in RCX. */
	unsigned rounds_left;	 /* 0: its loop has no end. */
	unsigned interrupts_end; /* Number of interrupts that end its loop. 0: no interrupt does. */
	unsigned slices_end;	 /* Number of slices that end its loop. 0: no slice does. */
	bool deaf;		 /* It has no timer. */
	unsigned steps, interrupts, slices;
	bool waits; /* An interrupt is pending. */
};

struct toy {
	struct spinner cpu[2];
};

static void leave(struct spinner *s)
{
	s->regs.rip = CALLER;
}

static enum copy_step toy_step(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct spinner *s = &((struct toy *)ctx)->cpu[cpu];

	/* A copy's step reads the instruction at this address before it executes it. */
	assert_int_equal(regs->rip, s->regs.rip);
	if (++s->steps % 100 == 0 && !s->deaf)
		s->waits = true;
	if (s->regs.rip >= HANDLER)
		s->regs.rip = s->regs.rip == HANDLER + 5 ? LOOP : s->regs.rip + 1;
	else
		s->regs.rip++;
	if (s->regs.rip == LOOP + s->length) {
		s->regs.rip = LOOP;
		s->regs.gpr[X86_RCX] += s->counts;
		if (s->rounds_left && !--s->rounds_left)
			leave(s);
	}
	*regs = s->regs;
	return COPY_STEPPED;
}

static void toy_regs(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	*regs = ((struct toy *)ctx)->cpu[cpu].regs;
}

/* Run for a slice, which ends in the middle of a handler. */
static bool toy_slice(void *ctx, unsigned cpu, const uint64_t returns[2], uint64_t ns)
{
	struct spinner *s = &((struct toy *)ctx)->cpu[cpu];

	assert_int_equal(returns[cpu], CALLER);
	assert_int_equal(ns, STUCK_SLICE_NS);
	s->slices++;
	if (s->waits && s->regs.rflags & INTERRUPTS_ON) {
		s->waits = false;
		s->regs.rip = HANDLER;
		s->interrupts++;
	}
	return s->slices != s->slices_end && (!s->interrupts_end || s->interrupts < s->interrupts_end);
}

static int toy_waiting(void *ctx, unsigned cpu)
{
	return ((struct toy *)ctx)->cpu[cpu].waits ? (int)TIMER : -1;
}

static struct toy spinning(void)
{
	struct toy t = {.cpu = {{.length = 4}, {.length = 7}}};

	for (unsigned i = 0; i < 2; i++)
		t.cpu[i].regs = (struct x86_regs){.rip = LOOP, .rflags = INTERRUPTS_ON};
	return t;
}

static bool stuck(struct toy *t, uint64_t ns)
{
	const struct stuck_ops ops = {
		.steps = {.step = toy_step, .regs = toy_regs, .ctx = t}, .slice = toy_slice, .waiting = toy_waiting, .ctx = t};
	const struct order order = {.sides = {{.cpu = 0, .pc = LOOP, .limits.return_address = CALLER},
					      {.cpu = 1, .pc = LOOP, .limits.return_address = CALLER}}};

	return stuck_run(&ops, &order, 2, ns);
}

static void two_loops_without_an_end_hang(void **state)
{
	struct toy t = spinning();

	(void)state;
	assert_true(stuck(&t, 50 * STUCK_SLICE_NS));
	for (unsigned i = 0; i < 2; i++) {
		assert_true(t.cpu[i].interrupts >= STUCK_INTERRUPTS);
		assert_true(t.cpu[i].slices >= 50);
	}
}

static void loop_that_an_interrupt_ends_is_no_hang(void **state)
{
	(void)state;
	for (unsigned cpu = 0; cpu < 2; cpu++)
		for (unsigned i = 1; i <= STUCK_INTERRUPTS; i++) {
			struct toy t = spinning();

			t.cpu[cpu].interrupts_end = i;
			assert_false(stuck(&t, STUCK_SLICE_NS));
		}
}

static void loop_that_ends_in_the_free_run_is_no_hang(void **state)
{
	struct toy t = spinning();

	(void)state;
	t.cpu[1].slices_end = 45;
	assert_false(stuck(&t, 50 * STUCK_SLICE_NS));
	assert_int_equal(t.cpu[1].slices, 45);
}

static void loop_that_counts_is_no_hang(void **state)
{
	struct toy t = spinning();

	(void)state;
	t.cpu[0].counts = true;
	assert_false(stuck(&t, 0));
	assert_int_equal(t.cpu[0].slices, 0);
}

static void loop_that_ends_when_it_runs_alone_is_no_hang(void **state)
{
	struct toy t = spinning();

	(void)state;
	t.cpu[1].rounds_left = 1;
	assert_false(stuck(&t, 0));
	/* The loop ends while the code waits for interrupts. */
	t = spinning();
	t.cpu[0].rounds_left = 30;
	assert_false(stuck(&t, 0));
}

static void cpu_without_interrupts_tells_nothing(void **state)
{
	struct toy t = spinning();

	(void)state;
	t.cpu[0].deaf = true;
	assert_false(stuck(&t, 0));
}

static void loop_with_interrupts_off_awaits_none(void **state)
{
	struct toy t = spinning();

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		t.cpu[i].regs.rflags = 0;
		t.cpu[i].deaf = true;
	}
	assert_true(stuck(&t, 3 * STUCK_SLICE_NS));
	assert_int_equal(t.cpu[0].interrupts, 0);
	assert_int_equal(t.cpu[0].slices, 3);
}

static void function_without_a_known_return_tells_nothing(void **state)
{
	struct toy t = spinning();
	const struct stuck_ops ops = {.steps = {.step = toy_step, .regs = toy_regs, .ctx = &t}};
	const struct order order = {.sides = {{.cpu = 0, .limits.return_address = CALLER}, {.cpu = 1}}};

	(void)state;
	assert_false(stuck_run(&ops, &order, 2, 0));
	assert_int_equal(t.cpu[0].steps, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_loops_without_an_end_hang),
		cmocka_unit_test(loop_that_an_interrupt_ends_is_no_hang),
		cmocka_unit_test(loop_that_ends_in_the_free_run_is_no_hang),
		cmocka_unit_test(loop_that_counts_is_no_hang),
		cmocka_unit_test(loop_that_ends_when_it_runs_alone_is_no_hang),
		cmocka_unit_test(cpu_without_interrupts_tells_nothing),
		cmocka_unit_test(loop_with_interrupts_off_awaits_none),
		cmocka_unit_test(function_without_a_known_return_tells_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
