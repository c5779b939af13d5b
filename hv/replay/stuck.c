// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides whether both sides of an order hang: each runs in a loop that no event ends. */
#include "hv/replay/stuck.h"

#include <string.h>

#define INTERRUPTS_ON (1u << 9)
/*
 * Maximum number of steps for which await_interrupt() waits for a pending interrupt, and for which comes_back() waits until the
 * side is back in its loop. At this limit, stuck_run() returns false: it is unknown whether the sides hang. A step takes
 * microseconds, so the kernel's timer normally sends an interrupt long before the limit.
 */
#define STEPS_MAX 200000u
/* Steps between two reads of the local APIC, each of which takes as long as a step. */
#define STEPS_BETWEEN 16u
/* A CPU has this many slices of STUCK_SLICE_NS to take a pending interrupt. If it does not, stuck_run() returns false. */
#define SLICES_MAX 8u

struct stuck {
	const struct stuck_ops *ops;
	const struct order *order;
	unsigned cpus;
	/* The registers of each side at one place in its loop. */
	struct x86_regs loop[2];
	/* Interrupts are off in the whole loop of the side. */
	bool masked[2];
};

static bool same(const struct x86_regs *a, const struct x86_regs *b)
{
	return a->rip == b->rip && a->rflags == b->rflags && memcmp(a->gpr, b->gpr, sizeof(a->gpr)) == 0;
}

/* Let a side make one step. Returns false if the step failed, or if the side has returned from its function. */
static bool step(const struct stuck *s, unsigned side, struct x86_regs *regs)
{
	const struct order_side *o = &s->order->sides[side];

	return s->ops->steps.step(s->ops->steps.ctx, o->cpu, regs) == COPY_STEPPED && regs->rip != o->limits.return_address;
}

static void get_regs(const struct stuck *s, unsigned side, struct x86_regs *regs)
{
	s->ops->steps.regs(s->ops->steps.ctx, s->order->sides[side].cpu, regs);
}

/*
 * Find the loop of a side by R. P. Brent's cycle detection: remember the registers after a step, and compare the registers
 * after each of the next `wait` steps with them. If none are equal, remember the registers after the last of these steps
 * instead, double `wait`, and go on.
 */
static bool find_loop(struct stuck *s, unsigned side)
{
	struct x86_regs *loop = &s->loop[side], regs;
	unsigned wait = 1, waited = 0;
	bool masked = true;

	get_regs(s, side, loop);
	regs = *loop;
	for (unsigned i = 0; i < 2 * STUCK_LOOP; i++) {
		if (!step(s, side, &regs))
			return false;
		masked &= !(regs.rflags & INTERRUPTS_ON);
		if (same(&regs, loop)) {
			s->masked[side] = masked;
			return true;
		}
		if (++waited < wait)
			continue;
		*loop = regs;
		wait *= 2;
		waited = 0;
		masked = true;
	}
	return false;
}

/* Returns whether a side, which may be in an interrupt handler, returns to its loop. */
static bool comes_back(const struct stuck *s, unsigned side)
{
	struct x86_regs regs;

	get_regs(s, side, &regs);
	for (unsigned i = 0; i < STEPS_MAX && !same(&regs, &s->loop[side]); i++)
		if (!step(s, side, &regs))
			return false;
	return same(&regs, &s->loop[side]);
}

static bool slice(const struct stuck *s, unsigned cpu)
{
	const uint64_t returns[2] = {s->order->sides[0].limits.return_address, s->order->sides[1].limits.return_address};

	return s->ops->slice(s->ops->ctx, cpu, returns, STUCK_SLICE_NS);
}

static bool slice_all(const struct stuck *s)
{
	for (unsigned cpu = 0; cpu < s->cpus; cpu++)
		if (!slice(s, cpu))
			return false;
	return true;
}

/* Step a side until an interrupt is pending while interrupts are on. Returns the interrupt's vector, or -1 if none came. */
static int await_interrupt(const struct stuck *s, unsigned side)
{
	unsigned cpu = s->order->sides[side].cpu;
	struct x86_regs regs;

	get_regs(s, side, &regs);
	for (unsigned i = 1; i <= STEPS_MAX; i++) {
		int vector;

		if (!step(s, side, &regs))
			return -1;
		if (i % STEPS_BETWEEN || !(regs.rflags & INTERRUPTS_ON))
			continue;
		vector = s->ops->waiting(s->ops->ctx, cpu);
		if (vector >= 0)
			return vector;
	}
	return -1;
}

/*
 * Let a side take an interrupt, which may end the side's loop. Returns true if the side took one. Also returns true if
 * interrupts are off in the whole loop: then no interrupt can end it. Returns false if no interrupt came, or if the side did
 * not take it. Also returns false if one of the two sides has returned from its function: then its loop has ended.
 */
static bool take_interrupt(const struct stuck *s, unsigned side)
{
	int vector;

	if (s->masked[side])
		return true;
	vector = await_interrupt(s, side);
	for (unsigned i = 0; vector >= 0 && i < SLICES_MAX; i++) {
		if (!slice_all(s))
			return false;
		if (s->ops->waiting(s->ops->ctx, s->order->sides[side].cpu) != vector)
			return true;
	}
	return false;
}

bool stuck_run(const struct stuck_ops *ops, const struct order *order, unsigned cpus, uint64_t ns)
{
	struct stuck s = {.ops = ops, .order = order, .cpus = cpus};

	/* Give up if a return address is unknown: a loop that ended and began again would look like a loop that never ended. */
	if (!order->sides[0].limits.return_address || !order->sides[1].limits.return_address)
		return false;
	if (!find_loop(&s, 0) || !find_loop(&s, 1))
		return false;
	for (unsigned i = 0; i < STUCK_INTERRUPTS; i++)
		if (!take_interrupt(&s, 0) || !take_interrupt(&s, 1))
			return false;
	for (uint64_t run = 0; run < ns; run += STUCK_SLICE_NS)
		if (!slice_all(&s))
			return false;
	return comes_back(&s, 0) && comes_back(&s, 1);
}
