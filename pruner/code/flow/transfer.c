// SPDX-License-Identifier: GPL-2.0-or-later
/* Applies one instruction to the state of the registers (the transfer function of value flow). */
#include "pruner/code/flow/internal.h"

/* The registers that a call may change (System V ABI for x86-64, section 3.2.1). */
static const uint16_t caller_saved =
	1u << X86_RAX | 1u << X86_RCX | 1u << X86_RDX | 1u << X86_RSI | 1u << X86_RDI | 0xfu << X86_R8;

static void forget(struct state *state, unsigned i, uint16_t regs)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (regs >> reg & 1)
			state->gpr[reg] = (struct value){.value_number = flow_value_number(i, reg), .may = ~0ull};
	}
}

bool flow_place(const struct state *state, const struct insn_op *op, struct place *out)
{
	const struct insn_mem *mem = &op->insn.mem[0];

	if (op->insn.nmem != 1 || mem->index != INSN_REG_NONE || mem->addr32 || op->insn.flags & INSN_STRING)
		return false;
	*out = (struct place){.base = FLOW_ABSOLUTE, .disp = mem->disp, .seg = mem->seg};
	if (mem->base == INSN_REG_RIP)
		out->disp = (int64_t)((uint64_t)out->disp + op->insn.addr + op->insn.len);
	else if (mem->base != INSN_REG_NONE)
		out->base = state->gpr[mem->base].value_number;
	return out->base != FLOW_NO_NUMBER;
}

static struct value load(const struct state *state, const struct insn_op *op, unsigned i)
{
	struct value out = {.value_number = flow_value_number(i, (unsigned)op->dst.reg), .may = flow_bytes(op->src.size)};

	if (op->src.high || !flow_place(state, op, &out.from))
		return out;
	out.loaded = true;
	out.size = op->src.size;
	return out;
}

/*
 * Returns the value of a register that held `old`, after `value` was written to its low `size` bytes. A write of 4 bytes clears
 * the upper half (SDM vol. 1, 3.4.1.1). A write of 1 or 2 bytes keeps the other bytes of `old`.
 */
static struct value fit(const struct value *value, const struct value *old, unsigned size)
{
	uint64_t low = flow_bytes(size);
	struct value out = *value;

	if (size == 8)
		return out;
	if (size == 4) {
		out.changed |= ~low;
		out.may &= low;
		out.must &= low;
		return out;
	}
	if (out.loaded) {
		out.changed |= ~low;
		return out;
	}
	if (old->loaded) {
		out = *old;
		out.changed |= low;
		out.deltas |= FLOW_ELSE;
		return out;
	}
	out.may = (out.may & low) | (old->may & ~low);
	out.must = (out.must & low) | (old->must & ~low);
	return out;
}

static void move(struct state *state, const struct insn_op *op, unsigned i)
{
	struct value *dst = &state->gpr[op->dst.reg], from, cut;
	unsigned size = op->src.size < op->dst.size ? op->src.size : op->dst.size;

	if (op->src.kind == INSN_OPERAND_MEM) {
		from = load(state, op, i);
	} else {
		from = value_of(state, &op->src, op->imm);
		if (op->src.kind == INSN_OPERAND_REG && size < op->dst.size) {
			/* movzx clears the bits above the source. */
			from.changed |= ~flow_bytes(size);
			from.may &= flow_bytes(size);
			from.must &= flow_bytes(size);
		}
	}
	cut = fit(&from, dst, op->dst.size);
	if (op->dst.size < 8 || op->src.kind != INSN_OPERAND_REG || size < 8)
		cut.value_number = flow_value_number(i, (unsigned)op->dst.reg);
	*dst = cut;
}

/*
 * Cut the operands of a shift to the bits that the CPU uses: `size` bytes of `dst`, and of the shift count the low 6 bits if
 * `size` is 8, otherwise the low 5 bits (SDM vol. 2, SHL).
 */
static void cut_for_shift(struct value *dst, struct value *by, unsigned size)
{
	const uint64_t low = flow_bytes(size), number = size == 8 ? 63 : 31;

	dst->may &= low;
	dst->must &= low;
	by->may &= number;
	by->must &= number;
}

static void combine(struct state *state, const struct insn_op *op, unsigned i)
{
	struct value *dst = &state->gpr[op->dst.reg], old = *dst, src, out;
	bool same = op->src.kind == INSN_OPERAND_REG && op->src.reg == op->dst.reg && !op->src.high;

	src = op->src.kind == INSN_OPERAND_MEM ? load(state, op, i) : value_of(state, &op->src, op->imm);
	if (op->kind == INSN_OP_SHL || op->kind == INSN_OP_SHR)
		cut_for_shift(&old, &src, op->dst.size);
	if (same && (op->kind == INSN_OP_XOR || op->kind == INSN_OP_SUB))
		out = (struct value){0};
	else
		out = value_combine((enum insn_op_kind)op->kind, &old, &src, op->dst.size);
	if (op->dst.size < 4 && dst->loaded && out.loaded) {
		/* The operation changed only the low part of the register. */
		out.changed = dst->changed | (out.changed & flow_bytes(op->dst.size));
		*dst = out;
	} else {
		*dst = fit(&out, dst, op->dst.size);
	}
	dst->value_number = flow_value_number(i, (unsigned)op->dst.reg);
}

static void conditional(struct state *state, const struct insn_op *op, unsigned i)
{
	struct state other = *state;

	move(&other, op, i);
	other.reached = true;
	state->reached = true;
	flow_join(state, &other);
}

static void set(struct state *state, const struct insn_op *op, unsigned i)
{
	const struct value bit = {.may = 1};
	struct value *dst = &state->gpr[op->dst.reg];

	*dst = fit(&bit, dst, 1);
	dst->value_number = flow_value_number(i, (unsigned)op->dst.reg);
}

/* lea adds without changing flags. */
static void add_to(struct state *state, const struct insn_op *op, unsigned i)
{
	const struct value number = {.may = op->imm, .must = op->imm};
	struct value *dst = &state->gpr[op->dst.reg], sum;

	sum = value_combine(INSN_OP_ADD, &state->gpr[op->src.reg], &number, op->dst.size);
	*dst = fit(&sum, dst, op->dst.size);
	dst->value_number = flow_value_number(i, (unsigned)op->dst.reg);
}

static void to_register(struct state *state, const struct insn_op *op, unsigned i)
{
	if (op->dst.high)
		forget(state, i, op->writes);
	else if (op->kind == INSN_OP_MOV)
		move(state, op, i);
	else if (op->kind == INSN_OP_CMOV)
		conditional(state, op, i);
	else if (op->kind == INSN_OP_SET)
		set(state, op, i);
	else if (op->kind == INSN_OP_LEA && op->src.kind == INSN_OPERAND_REG)
		add_to(state, op, i);
	else if (op->kind >= INSN_OP_AND && op->kind <= INSN_OP_BTC && op->writes)
		combine(state, op, i);
	else
		forget(state, i, op->writes);
}

/* After a store to a place, registers that were loaded from this place no longer hold its content. */
static void unload(struct state *state, const struct insn_op *op)
{
	struct place place;
	bool known = flow_place(state, op, &place);

	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		struct value *v = &state->gpr[reg];

		if (v->loaded && known && place_equal(&v->from, &place))
			*v = (struct value){.value_number = v->value_number, .may = ~0ull};
	}
}

static bool writes_memory(const struct insn_op *op)
{
	return op->insn.nmem && (op->insn.mem[0].rw & INSN_WRITE || (op->insn.nmem > 1 && op->insn.mem[1].rw & INSN_WRITE));
}

void flow_transfer(struct state *state, const struct insn_op *op, unsigned i)
{
	if (writes_memory(op))
		unload(state, op);
	if (op->kind == INSN_OP_CALL)
		forget(state, i, caller_saved);
	else if (op->dst.kind == INSN_OPERAND_REG)
		to_register(state, op, i);
	else
		forget(state, i, op->writes & (uint16_t) ~(1u << X86_RSP));
}
