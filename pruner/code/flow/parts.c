// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracks which bits of a loaded value each register holds, on one path and where two paths join. */
#include <string.h>

#include "pruner/code/flow/parts.h"

static uint64_t bits_of(const struct part *p)
{
	return p->mask << p->shift;
}

uint64_t parts_bits(const struct parts *parts, uint16_t regs)
{
	uint64_t bits = 0;

	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (regs >> reg & 1)
			bits |= bits_of(&parts->gpr[reg]);
	}
	return bits;
}

uint16_t parts_with_some(const struct parts *parts, uint16_t regs)
{
	uint16_t out = 0;

	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (parts->gpr[reg].mask || parts->gpr[reg].made)
			out |= (uint16_t)(1u << reg);
	}
	return out & regs;
}

void parts_clear(struct parts *parts, uint16_t regs)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (regs >> reg & 1)
			parts->gpr[reg] = (struct part){0};
	}
}

void parts_set_made(struct parts *parts, uint16_t regs, enum made made)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (regs >> reg & 1)
			parts->gpr[reg] = (struct part){.made = made};
	}
}

/*
 * Join what two paths know of one register. Parts with different shifts cannot be joined: the bits of both count as used, and
 * the register then holds a result that was computed from the value.
 */
static bool join_part(struct part *into, const struct part *from, uint64_t *used)
{
	struct part out = *into;

	if (!out.mask)
		out.shift = from->shift;
	if (from->made > out.made)
		out.made = from->made;
	if (from->mask && from->shift != out.shift) {
		*used |= bits_of(into) | bits_of(from);
		out.made = MADE;
	} else {
		out.mask |= from->mask;
	}
	if (out.mask == into->mask && out.made == into->made)
		return false;
	*into = out;
	return true;
}

bool parts_join(struct parts *into, const struct parts *from, uint64_t *used)
{
	bool changed = from->pushed && !into->pushed;

	if (!into->reached) {
		*into = (struct parts){.reached = true, .queued = into->queued, .pushed = from->pushed};
		memcpy(into->gpr, from->gpr, sizeof(into->gpr));
		return true;
	}
	into->pushed |= from->pushed;
	for (unsigned reg = 0; reg < X86_GPRS; reg++)
		changed |= join_part(&into->gpr[reg], &from->gpr[reg], used);
	return changed;
}
