// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out how code branches by a value that it reads (decision_test.h). */
#include "hv/detect/locks/decision_test.h"

#include "hv/detect/locks/decision_registers.h"
#include "symbols/insn/op.h"

/* The value is followed over at most this many instructions. */
#define INSNS_MAX 32u

/* Which registers have the value, and which of its bits. The other bits of these registers are 0. */
struct holders {
	uint16_t registers; /* one bit for each enum x86_gpr */
	uint16_t derived;   /* registers with something that was computed from the value, or that the value leads to */
	uint64_t bits;
	/* What the flags say: that the bits test.mask of the value are, or are not, test.value. */
	struct lock_test test;
	bool carry; /* CF says so, and not ZF */
};

static bool has(const struct holders *h, const struct insn_operand *operand)
{
	return operand->kind == INSN_OPERAND_REG && h->registers >> operand->reg & 1;
}

/* If the instruction compares the value, set h->test. `bits`: those of the value in its first operand. */
static void compare(struct holders *h, const struct insn_op *op, uint64_t bits)
{
	bool same = op->src.kind == INSN_OPERAND_REG && op->dst.kind == INSN_OPERAND_REG && op->src.reg == op->dst.reg &&
		    op->src.high == op->dst.high;
	unsigned shift = op->dst.high ? 8 : 0;
	uint64_t whole = decision_low_bits(op->dst.size) << shift;
	uint64_t constant = (op->imm & decision_low_bits(op->dst.size)) << shift;

	h->test = (struct lock_test){0};
	h->carry = op->kind == INSN_OP_BT;
	if ((op->kind == INSN_OP_TEST || op->kind == INSN_OP_AND) && (op->src.kind == INSN_OPERAND_IMM || same))
		h->test = (struct lock_test){true, bits & (same ? whole : constant), 0};
	else if (op->kind == INSN_OP_CMP && op->src.kind == INSN_OPERAND_IMM)
		h->test = (struct lock_test){true, bits & whole, constant};
	else if (op->kind == INSN_OP_BT && op->src.kind == INSN_OPERAND_IMM && op->dst.kind == INSN_OPERAND_REG)
		h->test = (struct lock_test){true, bits & UINT64_C(1) << (op->imm & (8 * op->dst.size - 1u)), 0};
}

/* Whether the branch looks at ZF, or at CF, alone. */
static bool looks_at(const struct insn_op *op, bool carry)
{
	return op->kind == INSN_OP_JCC && op->reads_flags &&
	       (decision_condition(op) & ~1u) == (carry ? DECISION_BY_CARRY : DECISION_BY_ZERO);
}

/* A call keeps some registers. Its result may depend on the value if the value is in an argument. */
static void step_call(struct holders *h, const struct insn_op *op)
{
	bool passed = (h->registers | h->derived) & (DECISION_ARGUMENTS | op->reads);

	h->registers &= DECISION_KEPT;
	h->derived = (uint16_t)((h->derived & DECISION_KEPT) | (passed ? 1u << X86_RAX : 0));
	h->test = (struct lock_test){0};
}

/* Whether the instruction copies the value with all its bits. */
static bool copies(const struct holders *h, const struct insn_op *op)
{
	return op->kind == INSN_OP_MOV && has(h, &op->src) && !op->src.high && op->dst.kind == INSN_OPERAND_REG &&
	       op->dst.size >= sizeof(uint32_t) && !(h->bits & ~decision_low_bits(op->src.size));
}

/*
 * Follow the value over an instruction that is no branch and no call. Returns false if the code may decide by the value in
 * another way than by h->test.
 */
static bool step(struct holders *h, const struct insn_op *op)
{
	uint16_t all = h->registers | h->derived, used = op->reads & all;
	bool copy = copies(h, op), stores = op->insn.nmem && op->insn.mem[0].rw & INSN_WRITE;
	uint64_t before = h->bits;

	if (op->sets_flags) {
		h->test = (struct lock_test){0};
		if (has(h, &op->dst))
			compare(h, op, h->bits);
		if (used && !h->test.known)
			return false;
	}
	if (op->data & all && (stores || op->kind == INSN_OP_PUSH))
		return false;
	h->registers &= (uint16_t)~op->writes;
	h->derived &= (uint16_t)~op->writes;
	if (copy) {
		h->registers |= (uint16_t)(1u << op->dst.reg);
	} else if (op->kind == INSN_OP_AND && h->test.known && op->dst.size >= sizeof(uint32_t)) {
		h->derived |= h->registers;
		h->registers = (uint16_t)(1u << op->dst.reg);
		h->bits = before & h->test.mask;
	} else if (used) {
		h->derived |= op->writes;
	}
	return true;
}

static void follow(struct insn_decoder *decoder, const struct decision_code *code, uint64_t at, struct holders *h,
		   struct lock_test *out)
{
	struct insn_op op;

	for (unsigned i = 0; i < INSNS_MAX; i++) {
		size_t from = at - code->addr;

		if (from >= code->len || !insn_op_decode(decoder, code->bytes + from, code->len - from, at, &op) ||
		    op.kind == INSN_OP_RET || op.kind == INSN_OP_STOP)
			return;
		at = op.kind == INSN_OP_JUMP ? op.target : at + op.insn.len;
		if (op.reads_flags && h->test.known) {
			if (looks_at(&op, h->carry))
				*out = h->test;
			return;
		}
		if (op.kind == INSN_OP_CALL)
			step_call(h, &op);
		else if (op.kind != INSN_OP_JUMP && op.kind != INSN_OP_JCC && !step(h, &op))
			return;
		if (!h->registers && !h->test.known)
			return;
	}
}

void decision_test(struct insn_decoder *decoder, const struct decision_code *code, uint64_t addr, struct lock_test *out)
{
	size_t from = addr - code->addr;
	struct holders h = {0};
	struct insn_op op;

	*out = (struct lock_test){0};
	if (from >= code->len || !insn_op_decode(decoder, code->bytes + from, code->len - from, addr, &op))
		return;
	if (op.kind == INSN_OP_MOV && op.src.kind == INSN_OPERAND_MEM && op.dst.kind == INSN_OPERAND_REG &&
	    (op.dst.size >= sizeof(uint32_t))) {
		h.registers = (uint16_t)(1u << op.dst.reg);
		h.bits = decision_low_bits(op.src.size);
	} else if (op.dst.kind == INSN_OPERAND_MEM && (op.kind == INSN_OP_TEST || op.kind == INSN_OP_CMP)) {
		compare(&h, &op, decision_low_bits(op.dst.size));
	}
	if (h.registers || h.test.known)
		follow(decoder, code, addr + op.insn.len, &h, out);
}
