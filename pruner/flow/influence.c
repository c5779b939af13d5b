// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows a loaded value forwards on all ways, with one bit a register. */
#include "pruner/flow/influence.h"
#include "pruner/flow/calls.h"

#define FLAGS (1u << X86_GPRS) /* The flags are made of the value. */

static void note(const struct insn_op *op, uint32_t made, unsigned i, struct flow_influence *out)
{
	if (op->kind == INSN_OP_JCC)
		out->decides[i] |= (made & FLAGS) || op->reads & made;
	if (op->insn.nmem && op->insn.mem[0].rw & INSN_WRITE)
		out->stored[i] |= (op->data & made) != 0;
	for (unsigned m = 0; m < op->insn.nmem; m++) {
		const struct insn_mem *mem = &op->insn.mem[m];

		out->addresses[i] |= (mem->base >= 0 && made >> mem->base & 1) || (mem->index >= 0 && made >> mem->index & 1);
	}
}

/* Returns what is made of the value behind the instruction. `loads`: the instruction loads the value itself. */
static uint32_t behind(const struct insn_op *op, uint32_t made, bool loads)
{
	uint16_t writes = op->writes & (uint16_t) ~(1u << X86_RSP);
	/* What is loaded through the value is another value. */
	uint16_t reads = op->dst.kind == INSN_OPERAND_REG && op->src.kind == INSN_OPERAND_MEM ? op->data : op->reads;
	bool of_value = loads || (reads & made && !flow_makes_zero(op)) || (op->reads_flags && made & FLAGS);
	bool partly = op->dst.kind == INSN_OPERAND_REG && op->dst.size < 4;

	if (op->kind == INSN_OP_CALL)
		return made & FLOW_CALLEE_SAVED;
	if (of_value)
		made |= writes;
	else if (!partly)
		made &= ~(uint32_t)writes;
	if (op->sets_flags)
		made = of_value ? made | FLAGS : made & ~FLAGS;
	return made;
}

void flow_influence(const struct code *code, unsigned i, struct flow_influence *out)
{
	uint32_t made[RACE_CODE_MAX] = {0};
	bool changed = true;
	int next[2];

	while (changed) {
		changed = false;
		for (unsigned at = 0; at < code->count; at++) {
			uint32_t after;
			unsigned n = code_next(code, at, next);

			if (at != i && !made[at])
				continue;
			after = behind(&code->insns[at].op, made[at], at == i);
			for (unsigned j = 0; j < n; j++) {
				if (next[j] == CODE_OUTSIDE || (made[next[j]] | after) == made[next[j]])
					continue;
				made[next[j]] |= after;
				changed = true;
			}
		}
	}
	for (unsigned at = 0; at < code->count; at++)
		note(&code->insns[at].op, made[at], at, out);
}
