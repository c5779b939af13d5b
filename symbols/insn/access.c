/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes the effective addresses of a decoded instruction (SDM vol. 1, 3.7.5). Runs on the hit path. */
#include "symbols/insn/insn.h"

#define MAX_REP_BYTES (1u << 20) /* bytes; the limit of mem_access.size */

static uint64_t effective_address(const struct insn *insn, const struct insn_mem *m, const struct x86_regs *regs)
{
	uint64_t ea = (uint64_t)m->disp;

	if (m->base == INSN_REG_RIP)
		ea += regs->rip + insn->len;
	else if (m->base >= 0)
		ea += regs->gpr[m->base];
	if (m->index >= 0)
		ea += regs->gpr[m->index] * m->scale;
	return m->addr32 ? (uint32_t)ea : ea;
}

static uint64_t segment_base(const struct insn_mem *m, const struct x86_regs *regs)
{
	if (m->seg == INSN_GS)
		return regs->gs_base;
	return m->seg == INSN_FS ? regs->fs_base : 0;
}

unsigned insn_accesses(const struct insn *insn, const struct x86_regs *regs, struct mem_access out[INSN_MAX_MEM])
{
	unsigned n = 0;

	for (unsigned i = 0; i < insn->nmem && i < INSN_MAX_MEM; i++) {
		const struct insn_mem *m = &insn->mem[i];
		uint64_t ea = effective_address(insn, m, regs);
		uint64_t bytes = m->size;

		if (insn->flags & INSN_REP) {
			uint64_t count = m->addr32 ? (uint32_t)regs->gpr[X86_RCX] : regs->gpr[X86_RCX];

			if (!count)
				continue;
			bytes = count > MAX_REP_BYTES / m->size ? MAX_REP_BYTES : count * m->size;
		}
		/*
		 * With DF set, RSI and RDI point to the highest element of the accessed range. Without REP, the range is one
		 * element.
		 */
		if (insn->flags & INSN_STRING && regs->rflags & X86_RFLAGS_DF)
			ea -= bytes - m->size;
		out[n++] = (struct mem_access){
			.gva = ea + segment_base(m, regs),
			.size = (uint32_t)bytes,
			.rw = m->rw,
		};
	}
	return n;
}
