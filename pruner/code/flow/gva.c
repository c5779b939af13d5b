// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes the guest-virtual addresses (GVA) that a function's instructions access, from the registers at one of its accesses.
 */
#include "pruner/code/flow/gva.h"

#include "pruner/code/flow/internal.h"

static uint64_t by_registers(const struct flow_access *a, const struct place *place)
{
	const struct state *state = &a->flow->states[a->at];
	uint16_t written = a->flow->code->insns[a->at].op.insn.regs_written;

	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (state->gpr[reg].value_number == place->base && !(written >> reg & 1))
			return a->regs->gpr[reg] + (uint64_t)place->disp;
	}
	return 0;
}

uint64_t flow_gva(const struct flow_access *a, unsigned i)
{
	const struct flow *flow = a->flow;
	struct place place, own;

	if (flow->failed || !flow->states[i].reached || !flow_place(&flow->states[i], &flow->code->insns[i].op, &place) ||
	    place.seg)
		return 0;
	if (place.base == FLOW_ABSOLUTE)
		return (uint64_t)place.disp;
	/* The access may have overwritten its own base register. The recorded GVA of the access then gives the base. */
	if (flow_place(&flow->states[a->at], &flow->code->insns[a->at].op, &own) && own.base == place.base && !own.seg)
		return a->gva - (uint64_t)own.disp + (uint64_t)place.disp;
	return by_registers(a, &place);
}
