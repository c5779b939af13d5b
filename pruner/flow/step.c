// SPDX-License-Identifier: GPL-2.0-or-later
/* What one instruction does with a loaded value. */
#include <string.h>

#include "pruner/flow/calls.h"
#include "pruner/flow/flow.h"
#include "pruner/flow/parts.h"

#define LEA_NUMBER_MAX 4096 /* A larger number that lea adds is an array's address and no arithmetic of the source. */

/* All parts of the value in these registers count as used from here on. */
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

static void note_address(struct follow *f, const struct parts *parts, const struct insn_op *op)
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

/* The flags that instruction `i` sets depend on what is in these registers. */
static void note_flags(struct follow *f, const struct parts *parts, uint16_t regs, unsigned i)
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
	note_flags(f, parts, op->data, i);
	if (op->insn.flags & INSN_LOCKED || !flow_same_place(f->flow, f->from, i)) {
		f->out->escapes = true;
		return;
	}
	flow_write(f->flow, i, &write);
	f->out->written_back = true;
	f->out->steps |= write.steps;
}

/*
 * An instruction that is not understood. It may look at all of what it reads, and its result is no part of the value any more.
 * The result is only marked in its register as made of the value. RSP is never marked so, since it would then be in every
 * address.
 */
static void other(struct follow *f, struct parts *parts, const struct insn_op *op, unsigned i)
{
	bool some = has_some(parts, op->reads);

	use(f, parts, op->reads);
	note_flags(f, parts, op->reads, i);
	if (op->dst.kind != INSN_OPERAND_REG)
		escape(f, parts, op->data);
	if (op->writes & 1u << X86_RSP)
		escape(f, parts, op->reads);
	parts_set_made(parts, op->writes & (uint16_t) ~(1u << X86_RSP), some ? MADE : NOT_MADE);
}

/*
 * lea is arithmetic, or it makes the address of something. It makes the address of an array's element when the array's address
 * comes from another register or is a large number. No address fits in 32 bits.
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

/* jrcxz and loop test a register. */
static void branch(struct follow *f, struct parts *parts, const struct insn_op *op)
{
	bool some = has_some(parts, op->reads);

	f->out->tested |= some;
	use(f, parts, op->reads);
	parts_set_made(parts, op->writes, some ? MADE : NOT_MADE);
}

/* and, shr and mov of registers leave a part of the value; every other operation on one is not followed. */
static void change(struct follow *f, struct parts *parts, const struct insn_op *op, unsigned i)
{
	struct part *dst = &parts->gpr[op->dst.reg];
	unsigned shift = op->imm & (8 * op->dst.size - 1); /* The CPU takes only these bits of the number. */

	if (op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_REG && !op->src.high && op->dst.size >= 4) {
		*dst = parts->gpr[op->src.reg];
		dst->mask &= flow_bytes(op->src.size);
	} else if (op->kind == INSN_OP_AND && op->src.kind == INSN_OPERAND_IMM && op->dst.size >= 4) {
		dst->mask &= op->imm & flow_bytes(op->dst.size);
		if (dst->mask)
			dst->made = MADE;
		note_flags(f, parts, op->writes, i);
	} else if (op->kind == INSN_OP_SHR && op->src.kind == INSN_OPERAND_IMM && op->dst.size >= 4 &&
		   shift + dst->shift < 64) {
		note_flags(f, parts, op->reads, i);
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

/* It is not known which of the pushed values a pop gets, so it may be any of them. */
static void pop(struct follow *f, struct parts *parts, const struct insn_op *op)
{
	if (op->dst.kind == INSN_OPERAND_REG && op->dst.reg != X86_RSP)
		parts_set_made(parts, 1u << op->dst.reg, parts->pushed ? POPPED : NOT_MADE);
	else
		f->out->escapes |= parts->pushed;
}

/*
 * These functions are written in assembly. Any register may be a retpoline's target, and the others do not use RAX as C does.
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

/* RDX holds the second half of a small structure, or a stale value. Its bits do not count as used, but the value escapes. */
static void ret(struct follow *f, const struct parts *parts)
{
	flow_leave(f, parts, 1u << X86_RAX);
	if (parts->gpr[X86_RDX].made != POPPED)
		escape(f, parts, 1u << X86_RDX);
}

void flow_step(struct follow *f, struct parts *parts, unsigned i)
{
	const struct insn_op *op = &f->flow->code->insns[i].op;

	note_address(f, parts, op);
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
