// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds strides of instructions that a recording need not look at (stride.h). */
#include "hv/explore/stride.h"

#include "symbols/insn/flow.h"

/* Maximum number of instructions of a stride. Without a limit, a loop of jumps would be a stride without end. */
#define STRIDE_MAX 64u

/* Status flags (SDM vol. 1, 3.4.3). */
#define CF (1u << 0)
#define PF (1u << 2)
#define ZF (1u << 6)
#define SF (1u << 7)
#define OF (1u << 11)

/* Returns the condition of a conditional jump without prefixes: the low four bits of its opcode; or -1 for other instructions.
 */
static int condition(const struct insn *insn)
{
	if (insn->bytes[0] >> 4 == 7)
		return insn->bytes[0] & 15;
	return insn->bytes[0] == 0x0f && insn->bytes[1] >> 4 == 8 ? insn->bytes[1] & 15 : -1;
}

static bool is_met(int condition, uint64_t flags)
{
	bool less = !(flags & SF) != !(flags & OF), met = false;

	switch (condition >> 1) {
	case 0:
		met = flags & OF;
		break;
	case 1:
		met = flags & CF;
		break;
	case 2:
		met = flags & ZF;
		break;
	case 3:
		met = flags & (CF | ZF);
		break;
	case 4:
		met = flags & SF;
		break;
	case 5:
		met = flags & PF;
		break;
	case 6:
		met = less;
		break;
	case 7:
		met = less || flags & ZF;
		break;
	}
	return met != (condition & 1);
}

/*
 * Set *next to the address of the instruction that is executed after `insn`. `regs` are the registers before it, or NULL if
 * they are unknown. Returns false if the address is unknown, and for calls.
 */
static bool find_next(const struct insn *insn, const struct x86_regs *regs, uint64_t *next)
{
	struct insn_branch branch;

	*next = insn->addr + insn->len;
	if (!(insn->flags & INSN_BRANCH))
		return true;
	if (!insn_direct_branch(insn, &branch) || branch.call)
		return false;
	if (branch.conditional && (!regs || condition(insn) < 0))
		return false;
	if (!branch.conditional || is_met(condition(insn), regs->rflags))
		*next = branch.target;
	return true;
}

unsigned stride_find(const struct stride_code *code, const struct insn *insn, const struct x86_regs *regs, uint64_t *end)
{
	uint64_t first = insn->addr, after;
	unsigned count = 0;

	if (!find_next(insn, regs, end))
		return 0;
	for (count = 1; count < STRIDE_MAX; count++) {
		insn = code->insn(code->ctx, *end);
		if (!insn || !find_next(insn, NULL, &after) || code->is_wanted(code->ctx, insn) || after == first)
			break;
		*end = after;
	}
	/* A breakpoint at the first instruction itself would stop the CPU at once. */
	return count > 1 && *end != first ? count : 0;
}
