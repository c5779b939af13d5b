// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/stuck.h"

#include <string.h>

#define INTERRUPTS_ON (1u << 9)
/* Steps until a CPU with interrupts on has one waiting. It has a timer. */
#define STEPS_MAX 200000u
/* Asking the local APIC takes as long as a step. */
#define STEPS_BETWEEN 16u
/* Slices until an interrupt that waits is taken. */
#define SLICES_MAX 8u

struct stuck {
	const struct stuck_ops *ops;
	const struct order *order;
	unsigned cpus;
	/* A state of each side's loop. */
	struct x86_regs loop[2];
	/* The loop of the side has interrupts off. */
	bool masked[2];
};

static bool same(const struct x86_regs *a, const struct x86_regs *b)
{
	return a->rip == b->rip && a->rflags == b->rflags && memcmp(a->gpr, b->gpr, sizeof(a->gpr)) == 0;
}

/* Let a side make one step. Returns whether it is in its function still. */
static bool step(const struct stuck *s, unsigned side, struct x86_regs *regs)
{
	const struct order_side *o = &s->order->sides[side];

	return s->ops->steps.step(s->ops->steps.ctx, o->cpu, regs) == COPY_STEPPED && regs->rip != o->limits.return_address;
}

static void get_regs(const struct stuck *s, unsigned side, struct x86_regs *regs)
{
	s->ops->steps.regs(s->ops->steps.ctx, s->order->sides[side].cpu, regs);
}

/* Find the loop that a side is in, by R. P. Brent's method: wait at a state for twice as many steps as at the one before. */
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

/* Whether a side, which may be in the handler of an interrupt, comes back to its loop. */
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

/* Wait by steps until an interrupt waits for a side that lets interrupts in. Returns its vector, or -1. */
static int await_interrupt(const struct stuck *s, unsigned side)
{
	unsigned cpu = s->order->sides[side].cpu;
	struct x86_regs regs;

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

/* Have a side take an interrupt. A loop with interrupts off takes none, and is not ended by one. */
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

	/* Without the addresses it could not be told that a loop has ended, and begun again. */
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
