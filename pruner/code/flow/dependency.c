// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows a loaded value forwards along all paths until nothing changes any more. The state before each instruction has one
 * bit for each register, and one for the flags.
 */
#include "pruner/code/flow/calls.h"
#include "pruner/code/flow/dependency.h"

#define FLAGS (1u << X86_GPRS) /* The flags depend on the value. */

static void record(const struct insn_op *op, uint32_t made, unsigned i, struct flow_dependencies *out)
{
	if (op->kind == INSN_OP_JCC)
		out->control[i] |= (made & FLAGS) || op->reads & made;
	if (op->insn.nmem && op->insn.mem[0].rw & INSN_WRITE)
		out->data[i] |= (op->data & made) != 0;
	for (unsigned m = 0; m < op->insn.nmem; m++) {
		const struct insn_mem *mem = &op->insn.mem[m];

		out->address[i] |= (mem->base >= 0 && made >> mem->base & 1) || (mem->index >= 0 && made >> mem->index & 1);
	}
}

/*
 * Returns the registers and flags that depend on the loaded value after the instruction. `made` has the registers and flags
 * that depend on it before the instruction. `loads` says that the instruction itself loads the value.
 */
static uint32_t made_after(const struct insn_op *op, uint32_t made, bool loads)
{
	uint16_t writes = op->writes & (uint16_t) ~(1u << X86_RSP);
	/*
	 * A load gets a value from memory. This value does not depend on the followed value, even if the load's address does.
	 * So for a load, only the registers in `data` count: those used for more than the address.
	 */
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

void flow_dependencies(const struct code *code, unsigned i, struct flow_dependencies *out)
{
	uint32_t made[RACE_CODE_MAX] = {0};
	bool changed = true;
	int next[2];

	while (changed) {
		changed = false;
		for (unsigned at = 0; at < code->count; at++) {
			uint32_t after;
			unsigned n = code_successors(code, at, next);

			if (at != i && !made[at])
				continue;
			after = made_after(&code->insns[at].op, made[at], at == i);
			for (unsigned j = 0; j < n; j++) {
				if (next[j] == CODE_OUTSIDE || (made[next[j]] | after) == made[next[j]])
					continue;
				made[next[j]] |= after;
				changed = true;
			}
		}
	}
	for (unsigned at = 0; at < code->count; at++)
		record(&code->insns[at].op, made[at], at, out);
}
