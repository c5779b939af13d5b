// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/copy_stuck.h"

#include "hv/base/x86.h"
#include "hv/replay/shared.h"

/* Enable the debug registers only in slices: a step would stop at the address before executing the instruction. */
static bool slice(void *ctx, unsigned cpu, const uint64_t returns[2], uint64_t ns)
{
	struct copy *c = ctx;
	enum copy_step end;

	for (unsigned i = 0; i < 2; i++) {
		c->watches.address[i] = returns[i];
		c->watches.dr7 |= x86_dr7_condition(i, X86_DR_EXECUTE, 1) | 2ull << (2 * i); /* enabled for all tasks */
	}
	end = copy_slice(c, cpu, ns);
	c->watches = (struct copy_watches){0};
	return end == COPY_HALTED;
}

static int waiting(void *ctx, unsigned cpu)
{
	struct copy *c = ctx;

	return shared_waiting_interrupt(vm_vcpu(c->vm, cpu)->fd);
}

struct stuck_ops copy_stuck_ops(struct copy *c)
{
	return (struct stuck_ops){.steps = copy_steps(c), .slice = slice, .waiting = waiting, .ctx = c};
}
