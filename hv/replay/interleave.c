// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs two functions that take the same lock in one order, by single steps of a copy of the machine (interleave.h). */
#include "hv/replay/interleave.h"

static bool goes_on(const struct ordering *o, unsigned side)
{
	return o->run->failure == REPLAY_NO_FAILURE && !region_over(&o->run->regions[side]);
}

static void run_to_end(struct ordering *o, unsigned side)
{
	while (goes_on(o, side))
		order_step_out_of_turn(o, side);
}

static bool before_second(const struct rendezvous_sections *s, const struct x86_regs *regs)
{
	if (regs->rip != s->second)
		return false;
	return s->gpr >= X86_GPRS || regs->gpr[s->gpr] + (uint64_t)(int64_t)s->offset == s->lock;
}

/* Run side 0 until it is at the call that begins its second section. Returns whether the side came to this call. */
static bool run_to_second(struct ordering *o, const struct rendezvous_sections *s)
{
	while (goes_on(o, 0)) {
		order_step_out_of_turn(o, 0);
		if (goes_on(o, 0) && before_second(s, &o->run->regs[0]))
			return true;
	}
	return false;
}

void interleave_run(const struct order *order, const struct rendezvous_sections *sections, enum section_order which,
		    const struct copy_ops *ops, struct order_run *run, bool *reached)
{
	struct ordering o;

	order_begin(&o, order, ops, run);
	switch (which) {
	case SECTION_ORDER_A_FIRST:
		run_to_end(&o, 0);
		run_to_end(&o, 1);
		break;
	case SECTION_ORDER_B_FIRST:
		run_to_end(&o, 1);
		run_to_end(&o, 0);
		break;
	default:
		*reached = run_to_second(&o, sections);
		if (!*reached)
			break;
		run_to_end(&o, 1);
		run_to_end(&o, 0);
		break;
	}
}
