// SPDX-License-Identifier: GPL-2.0-or-later
/* Records what one instruction does with a loaded value. */
#include <string.h>

#include "pruner/code/flow/calls.h"
#include "pruner/code/flow/flow.h"
#include "pruner/code/flow/parts.h"

/*
 * A constant of lea from -4096 to 4096 is taken for a number, and any other for an address. Numbers in sources are mostly
 * smaller, and the address of an array is far larger.
 */
#define LEA_NUMBER_MAX 4096

/* Record that the bits of the value in the registers `regs` are used. */
static void use(struct follow *f, const struct parts *parts, uint16_t regs)
{
	f->out->used |= parts_bits(parts, regs);
}

static bool has_some(const struct parts *parts, uint16_t regs)
{
	return parts_with_some(parts, regs) != 0;
}

static void escape(struct follow *f, const struct parts *parts, uint16_t regs)
{
	f->out->escapes |= has_some(parts, regs);
}

void flow_leave(struct follow *f, const struct parts *parts, uint16_t regs)
{
	use(f, parts, regs);
	escape(f, parts, regs);
}

static void record_address(struct follow *f, const struct parts *parts, const struct insn_op *op)
{
	for (unsigned i = 0; i < op->insn.nmem; i++) {
		const struct insn_mem *mem = &op->insn.mem[i];
		uint16_t regs = (uint16_t)((mem->base >= 0 ? 1u << mem->base : 0) | (mem->index >= 0 ? 1u << mem->index : 0));

		if (has_some(parts, regs)) {
			f->out->dereferenced = true;
			use(f, parts, regs);
		}
	}
}

/* Record that the flags that instruction `i` sets depend on the registers `regs`. */
static void record_flags(struct follow *f, const struct parts *parts, uint16_t regs, unsigned i)
{
	if (!has_some(parts, regs) || !flow_flags_are_read(f->flow->code, i))
		return;
	f->out->tested = true;
	use(f, parts, regs);
}

static void store(struct follow *f, const struct parts *parts, const struct insn_op *op, unsigned i)
{
	struct flow_write write;

	if (!has_some(parts, op->data))
		return;
	use(f, parts, op->data);
	record_flags(f, parts, op->data, i);
	if (op->insn.flags & INSN_LOCKED || !flow_same_place(f->flow, f->from, i)) {
		f->out->escapes = true;
		return;
	}
	flow_write(f->flow, i, &write);
	f->out->written_back = true;
	f->out->deltas |= write.deltas;
}

/*
 * Record an instruction without its own case in flow_step(). It may use all bits of the registers that it reads. Its result is
 * no longer a part of the value, but is computed from the value. RSP is never marked as computed from the value, because every
 * stack access would then be an address computed from the value.
 */
static void other(struct follow *f, struct parts *parts, const struct insn_op *op, unsigned i)
{
	bool some = has_some(parts, op->reads);

	use(f, parts, op->reads);
	record_flags(f, parts, op->reads, i);
	if (op->dst.kind != INSN_OPERAND_REG)
		escape(f, parts, op->data);
	if (op->writes & 1u << X86_RSP)
		escape(f, parts, op->reads);
	parts_set_made(parts, op->writes & (uint16_t) ~(1u << X86_RSP), some ? MADE : NOT_MADE);
}

/*
 * Record a lea, which does arithmetic or computes an address. It computes the address of an array's element if the array's
 * address is in another register or is a large constant. A result of 32 bits is no address.
 */
static void lea(struct follow *f, struct parts *parts, const struct insn_op *op, unsigned i)
{
	bool far = op->imm + LEA_NUMBER_MAX > 2 * LEA_NUMBER_MAX;
	uint16_t some = parts_with_some(parts, op->reads);

	f->out->dereferenced |= op->dst.size == 8 && some && (some != op->reads || far);
	other(f, parts, op, i);
}

static void test(struct follow *f, const struct parts *parts, const struct insn_op *op)
{
	uint64_t looked_at = flow_bytes(op->dst.size);

	if (!has_some(parts, op->reads))
		return;
	f->out->tested = true;
	if (op->src.kind == INSN_OPERAND_IMM && op->dst.kind == INSN_OPERAND_REG && !op->dst.high && op->kind != INSN_OP_CMP) {
		const struct part *p = &parts->gpr[op->dst.reg];

		if (op->kind == INSN_OP_TEST)
			looked_at &= op->imm;
		else
			looked_at &= 1ull << (op->imm & (8 * op->dst.size - 1));
		f->out->used |= (p->mask & looked_at) << p->shift;
	} else {
		use(f, parts, op->reads);
	}
}

/* Record a conditional jump. jrcxz and loop test a register, not the flags; record_flags() has recorded a test of flags. */
static void branch(struct follow *f, struct parts *parts, const struct insn_op *op)
{
	bool some = has_some(parts, op->reads);

	f->out->tested |= some;
	use(f, parts, op->reads);
	parts_set_made(parts, op->writes, some ? MADE : NOT_MADE);
}

/*
 * Record an instruction that changes a register. After a mov, and, or shr the register's bits of the value are known. After any
 * other operation the bits are not followed.
 */
static void change(struct follow *f, struct parts *parts, const struct insn_op *op, unsigned i)
{
	struct part *dst = &parts->gpr[op->dst.reg];
	unsigned shift = op->imm & (8 * op->dst.size - 1); /* The CPU uses only these bits of the shift count. */

	if (op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_REG && !op->src.high && op->dst.size >= 4) {
		*dst = parts->gpr[op->src.reg];
		dst->mask &= flow_bytes(op->src.size);
	} else if (op->kind == INSN_OP_AND && op->src.kind == INSN_OPERAND_IMM && op->dst.size >= 4) {
		dst->mask &= op->imm & flow_bytes(op->dst.size);
		if (dst->mask)
			dst->made = MADE;
		record_flags(f, parts, op->writes, i);
	} else if (op->kind == INSN_OP_SHR && op->src.kind == INSN_OPERAND_IMM && op->dst.size >= 4 &&
		   shift + dst->shift < 64) {
		record_flags(f, parts, op->reads, i);
		dst->mask = (dst->mask & flow_bytes(op->dst.size)) >> shift;
		dst->shift += shift;
	} else if (op->kind == INSN_OP_XOR && op->src.kind == INSN_OPERAND_REG && op->src.reg == op->dst.reg &&
		   op->dst.size >= 4) {
		parts_clear(parts, op->writes);
	} else if (op->kind == INSN_OP_LEA) {
		lea(f, parts, op, i);
	} else {
		other(f, parts, op, i);
	}
}

static void push(struct follow *f, struct parts *parts, const struct insn_op *op, unsigned i)
{
	use(f, parts, op->reads);
	if (!has_some(parts, op->reads))
		return;
	parts->pushed = true;
	if (flow_pushed_to_show(f->flow->code, i))
		f->out->shown = true;
	else
		f->out->escapes = true;
}

/* Record a pop. The analysis does not know the order of pushed values, so the pop may load any of them. */
static void pop(struct follow *f, struct parts *parts, const struct insn_op *op)
{
	if (op->dst.kind == INSN_OPERAND_REG && op->dst.reg != X86_RSP)
		parts_set_made(parts, 1u << op->dst.reg, parts->pushed ? POPPED : NOT_MADE);
	else
		f->out->escapes |= parts->pushed;
}

/*
 * Returns whether the callee is an assembly function that takes arguments in registers other than the ABI's: a retpoline jumps
 * to the address in any register, and __put_user and __get_user take an argument in RAX.
 */
static bool takes_any_register(const char *callee)
{
	static const char *const beginnings[] = {"__x86_indirect", "__put_user", "__get_user"};

	for (unsigned i = 0; callee && i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		if (strncmp(callee, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	}
	return false;
}

static void call(struct follow *f, struct parts *parts, const struct insn_op *op, unsigned i)
{
	const struct code_insn *insn = &f->flow->code->insns[i];

	use(f, parts, FLOW_ARGUMENTS | op->reads);
	if (takes_any_register(insn->callee))
		flow_leave(f, parts, UINT16_MAX);
	else if (insn->shows)
		f->out->shown |= has_some(parts, FLOW_ARGUMENTS);
	else
		escape(f, parts, FLOW_ARGUMENTS | op->data);
	parts_clear(parts, (uint16_t)~FLOW_CALLEE_SAVED);
}

/*
 * Record a return. RAX holds the result. RDX holds the second half of a result of 16 bytes, or else an old value. Therefore the
 * bits in RDX are not recorded as used, but the value is recorded as one that may reach the caller (flow_read.escapes).
 */
static void ret(struct follow *f, const struct parts *parts)
{
	flow_leave(f, parts, 1u << X86_RAX);
	if (parts->gpr[X86_RDX].made != POPPED)
		escape(f, parts, 1u << X86_RDX);
}

void flow_step(struct follow *f, struct parts *parts, unsigned i)
{
	const struct insn_op *op = &f->flow->code->insns[i].op;

	record_address(f, parts, op);
	if (op->kind == INSN_OP_CALL)
		call(f, parts, op, i);
	else if (op->kind == INSN_OP_PUSH)
		push(f, parts, op, i);
	else if (op->kind == INSN_OP_RET)
		ret(f, parts);
	else if (op->kind == INSN_OP_JCC)
		branch(f, parts, op);
	else if (op->kind == INSN_OP_POP)
		pop(f, parts, op);
	else if (op->kind == INSN_OP_NOP)
		return;
	else if (op->kind == INSN_OP_TEST || op->kind == INSN_OP_CMP || op->kind == INSN_OP_BT)
		test(f, parts, op);
	else if (op->dst.kind == INSN_OPERAND_MEM)
		store(f, parts, op, i);
	else if (op->dst.kind == INSN_OPERAND_REG && !op->dst.high && op->dst.reg != X86_RSP)
		change(f, parts, op, i);
	else
		other(f, parts, op, i);
}
