// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides when one side's region ends. */
#include "hv/replay/region.h"

void region_begin(struct region *r, const struct region_limits *limits)
{
	*r = (struct region){.limits = *limits, .end = REPLAY_END_NOT_RUN};
}

/* Compare RSP too: a recursive call returns to the same address with a smaller RSP. */
static bool has_returned(const struct region_limits *l, const struct x86_regs *regs)
{
	return l->return_address && regs->rip == l->return_address && regs->gpr[X86_RSP] >= l->cfa;
}

bool region_step(struct region *r, const struct x86_regs *regs)
{
	r->instructions++;
	if (has_returned(&r->limits, regs))
		r->end = REPLAY_END_RETURN;
	else if (r->limits.sleep && regs->rip == r->limits.sleep)
		r->end = REPLAY_END_BLOCKED;
	else if (r->instructions >= r->limits.instructions)
		r->end = REPLAY_END_LIMIT;
	return region_over(r);
}
