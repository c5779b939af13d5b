// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes the value that an instruction makes of two values, and joins two values where paths meet. */
#include "pruner/code/flow/internal.h"

static struct value unknown_value(void)
{
	return (struct value){.may = ~0ull};
}

static struct value constant(uint64_t number)
{
	return (struct value){.may = number, .must = number};
}

static bool is_constant(const struct value *v)
{
	return !v->loaded && v->may == v->must;
}

/*
 * Returns the lowest set bit of `may` and all bits above that bit. Adding or subtracting a number whose set bits are all in
 * `may` changes no other bits of a value.
 */
static uint64_t upwards(uint64_t may)
{
	return may ? ~((may & -may) - 1) : 0;
}

static unsigned delta_of(enum insn_op_kind kind, const struct value *by, unsigned size)
{
	uint64_t sign = 1ull << (8 * size - 1), number = by->must & flow_bytes(size);
	bool negative;

	if (!is_constant(by))
		return kind == INSN_OP_ADD ? FLOW_SUM : FLOW_ELSE;
	if (number == 0)
		return 0;
	negative = (number & sign) != 0;
	return negative == (kind == INSN_OP_SUB) ? FLOW_UP : FLOW_DOWN;
}

/* Returns the bits of a loaded value that the operation `kind` with the operand `other` may change. */
static uint64_t difference(enum insn_op_kind kind, const struct value *other)
{
	switch (kind) {
	case INSN_OP_AND:
		return ~other->must;
	case INSN_OP_OR:
	case INSN_OP_XOR:
		return other->may;
	case INSN_OP_ADD:
	case INSN_OP_SUB:
		return upwards(other->may);
	case INSN_OP_BTS:
	case INSN_OP_BTR:
	case INSN_OP_BTC:
		return is_constant(other) ? 1ull << (other->must & 63) : ~0ull;
	default:
		return ~0ull;
	}
}

static struct value combine_loaded(enum insn_op_kind kind, const struct value *dst, const struct value *src, unsigned size)
{
	bool add = kind == INSN_OP_ADD || kind == INSN_OP_SUB;
	struct value out = *dst;

	if (src->loaded && dst->loaded) {
		/* The AND or OR of two copies of one value keeps the bits that neither copy changed. */
		if (!place_equal(&src->from, &dst->from) || (kind != INSN_OP_AND && kind != INSN_OP_OR))
			return unknown_value();
		out.changed |= src->changed;
		out.deltas |= src->deltas | FLOW_ELSE;
	} else if (dst->loaded) {
		out.changed |= difference(kind, src);
		out.deltas |= (uint8_t)(add ? delta_of(kind, src, size) : FLOW_ELSE);
	} else {
		if (kind == INSN_OP_SUB)
			return unknown_value();
		out = *src;
		out.changed |= difference(kind, dst);
		out.deltas |= (uint8_t)(add ? delta_of(kind, dst, size) : FLOW_ELSE);
	}
	if (out.changed == ~0ull && !add)
		return unknown_value();
	out.value_number = FLOW_NO_NUMBER;
	return out;
}

static struct value combine_plain(enum insn_op_kind kind, const struct value *dst, const struct value *src)
{
	unsigned shift = src->must & 63;
	struct value out = unknown_value();

	switch (kind) {
	case INSN_OP_AND:
		out.may = dst->may & src->may;
		out.must = dst->must & src->must;
		break;
	case INSN_OP_OR:
		out.may = dst->may | src->may;
		out.must = dst->must | src->must;
		break;
	case INSN_OP_XOR:
		out.may = dst->may | src->may;
		break;
	case INSN_OP_SHL:
		out.may = is_constant(src) ? dst->may << shift : ~0ull;
		out.must = is_constant(src) ? dst->must << shift : 0;
		break;
	case INSN_OP_SHR:
		out.may = is_constant(src) ? dst->may >> shift : ~0ull;
		out.must = is_constant(src) ? dst->must >> shift : 0;
		break;
	default:
		break;
	}
	return out;
}

struct value value_combine(enum insn_op_kind kind, const struct value *dst, const struct value *src, unsigned size)
{
	if (kind == INSN_OP_SHL || kind == INSN_OP_SHR)
		return dst->loaded || src->loaded ? unknown_value() : combine_plain(kind, dst, src);
	return dst->loaded || src->loaded ? combine_loaded(kind, dst, src, size) : combine_plain(kind, dst, src);
}

struct value value_of(const struct state *state, const struct insn_operand *operand, uint64_t imm)
{
	if (operand->kind == INSN_OPERAND_IMM)
		return constant(imm);
	if (operand->kind == INSN_OPERAND_REG && !operand->high)
		return state->gpr[operand->reg];
	return unknown_value();
}

bool place_equal(const struct place *a, const struct place *b)
{
	return a->base != FLOW_NO_NUMBER && a->base == b->base && a->disp == b->disp && a->seg == b->seg;
}

static bool value_same(const struct value *a, const struct value *b)
{
	return a->value_number == b->value_number && a->loaded == b->loaded && a->size == b->size && a->deltas == b->deltas &&
	       a->from.base == b->from.base && a->from.disp == b->from.disp && a->from.seg == b->from.seg &&
	       a->changed == b->changed && a->may == b->may && a->must == b->must;
}

static bool value_join(struct value *into, const struct value *from)
{
	struct value out = *into;

	if (out.value_number != from->value_number)
		out.value_number = FLOW_NO_NUMBER;
	if (out.loaded && from->loaded && place_equal(&out.from, &from->from)) {
		out.changed |= from->changed;
		out.deltas |= from->deltas;
		out.size = out.size < from->size ? out.size : from->size;
	} else if (out.loaded || from->loaded) {
		out = (struct value){.value_number = out.value_number, .may = ~0ull};
	} else {
		out.may |= from->may;
		out.must &= from->must;
	}
	if (value_same(&out, into))
		return false;
	*into = out;
	return true;
}

bool flow_join(struct state *into, const struct state *from)
{
	bool changed = false;

	if (!into->reached) {
		*into = *from;
		into->reached = true;
		return true;
	}
	for (unsigned i = 0; i < X86_GPRS; i++)
		changed |= value_join(&into->gpr[i], &from->gpr[i]);
	return changed;
}
