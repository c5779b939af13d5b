/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/target/emulate.h"

#include "symbols/insn/flow.h"

enum form { NOT_EMULATED, PUSH, RET, JUMP, CALL };

#define REX_B 0x41

static bool is_push_opcode(uint8_t op)
{
	return op >= 0x50 && op <= 0x57;
}

static enum form form_of(const struct insn *insn)
{
	const uint8_t *b = insn->bytes;

	if ((insn->len == 1 && is_push_opcode(b[0])) || (insn->len == 2 && b[0] == REX_B && is_push_opcode(b[1])))
		return PUSH;
	if (insn->len == 1 && b[0] == 0xc3)
		return RET;
	if ((insn->len == 2 && b[0] == 0xeb) || (insn->len == 5 && b[0] == 0xe9))
		return JUMP;
	if (insn->len == 5 && b[0] == 0xe8)
		return CALL;
	return NOT_EMULATED;
}

bool target_can_emulate(const struct insn *insn)
{
	return form_of(insn) != NOT_EMULATED;
}

static int push(struct target *t, struct x86_regs *regs, uint64_t value)
{
	if (target_write(t, regs->cr3, regs->cr4, regs->gpr[X86_RSP] - 8, &value, sizeof(value)))
		return -1;
	regs->gpr[X86_RSP] -= 8;
	return 0;
}

static unsigned pushed_register(const struct insn *insn)
{
	return insn->len == 2 ? 8u + (insn->bytes[1] & 7u) : insn->bytes[0] & 7u;
}

int target_emulate(struct target *t, const struct insn *insn, struct x86_regs *regs)
{
	uint64_t next = insn->addr + insn->len, to;
	struct insn_branch branch;

	switch (form_of(insn)) {
	case PUSH:
		if (push(t, regs, regs->gpr[pushed_register(insn)]))
			return -1;
		regs->rip = next;
		return 0;
	case RET:
		if (target_read(t, regs->cr3, regs->cr4, regs->gpr[X86_RSP], &to, sizeof(to)))
			return -1;
		regs->gpr[X86_RSP] += 8;
		regs->rip = to;
		return 0;
	case JUMP:
	case CALL:
		if (!insn_direct_branch(insn, &branch) || (branch.call && push(t, regs, next)))
			return -1;
		regs->rip = branch.target;
		return 0;
	case NOT_EMULATED:
		break;
	}
	return -1;
}
