// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out by which bits of a value code may decide (decision_bits.h), by following each bit through the registers. */
#include "hv/detect/locks/decision_bits.h"

#include "hv/detect/locks/decision_registers.h"
#include "symbols/insn/op.h"

#define ALL UINT64_MAX
#define BITS 64u
/* A value is followed over at most this many instructions, on all paths together, and past this many branches on one path. */
#define INSNS_MAX 512u
#define BRANCHES_MAX 8u

/* On which bits of the value the registers and the flags depend. */
struct origin {
	uint64_t of[X86_GPRS], flags;
	/* One bit for each register in which each bit of the value is in its own place, or 0, or a constant. */
	uint16_t in_place;
};

struct search {
	struct insn_decoder *decoder;
	const struct decision_code *code;
	uint64_t addr; /* GVA of the instruction that reads the value */
	uint64_t bits; /* the result so far */
	unsigned insns;
};

static bool has(uint16_t set, int reg)
{
	return set >> reg & 1;
}

static uint64_t origin_of(const struct origin *o, uint16_t registers)
{
	uint64_t bits = 0;

	for (int r = 0; r < X86_GPRS; r++)
		bits |= has(registers, r) ? o->of[r] : 0;
	return bits;
}

/* The value's bits in a register operand. */
static uint64_t in_operand(const struct origin *o, const struct insn_operand *operand)
{
	if (operand->kind != INSN_OPERAND_REG)
		return 0;
	if (!has(o->in_place, operand->reg))
		return o->of[operand->reg];
	return o->of[operand->reg] & decision_low_bits(operand->size) << (operand->high ? 8 : 0);
}

/* The constant with which the instruction combines the register `dst`, in the register's bits. */
static uint64_t constant(const struct insn_op *op)
{
	return (op->imm & decision_low_bits(op->dst.size)) << (op->dst.high ? 8 : 0);
}

/* The bits of the register that an instruction with this destination leaves alone. One of 4 bytes clears the upper half. */
static uint64_t kept(const struct insn_operand *dst)
{
	return dst->size >= sizeof(uint32_t) ? 0 : ~(decision_low_bits(dst->size) << (dst->high ? 8 : 0));
}

static void set(struct origin *o, int reg, uint64_t bits, bool in_place)
{
	o->of[reg] = bits;
	o->in_place = (uint16_t)((o->in_place & ~(1u << reg)) | (unsigned)in_place << reg);
}

/* Whether the instruction combines a register, in which the value's bits are in their places, with a constant. */
static bool masks(const struct origin *o, const struct insn_op *op)
{
	return op->dst.kind == INSN_OPERAND_REG && op->src.kind == INSN_OPERAND_IMM && has(o->in_place, op->dst.reg);
}

static bool copies(const struct insn_op *op)
{
	return op->kind == INSN_OP_MOV && op->dst.kind == INSN_OPERAND_REG && op->src.kind == INSN_OPERAND_REG &&
	       op->dst.size >= sizeof(uint32_t) && !op->src.high;
}

/* What any instruction does: all that it writes depends on all that it reads. */
static void spread(struct origin *o, const struct insn_op *op)
{
	uint64_t from = origin_of(o, op->kind == INSN_OP_LEA ? op->reads : op->data) | (op->reads_flags ? o->flags : 0);

	for (int r = 0; r < X86_GPRS; r++) {
		if (has(op->writes, r))
			set(o, r, from, false);
	}
	if (op->sets_flags)
		o->flags = from;
}

static void step(struct origin *o, const struct insn_op *op)
{
	uint64_t here = in_operand(o, &op->dst), with = constant(op),
		 bit = UINT64_C(1) << (op->imm & (8 * op->dst.size - 1u) % BITS);

	if (decision_clears(op)) {
		set(o, op->dst.reg, 0, false);
		o->flags = 0;
	} else if (copies(op)) {
		set(o, op->dst.reg, in_operand(o, &op->src), has(o->in_place, op->src.reg));
	} else if (op->kind == INSN_OP_TEST && masks(o, op)) {
		o->flags = here & with;
	} else if (op->kind == INSN_OP_TEST || op->kind == INSN_OP_CMP) {
		o->flags = here | in_operand(o, &op->src);
	} else if (op->kind == INSN_OP_BT && masks(o, op)) {
		o->flags = here & bit;
	} else if ((op->kind == INSN_OP_BTS || op->kind == INSN_OP_BTR) && masks(o, op)) {
		o->flags = here & bit;
		o->of[op->dst.reg] = (here & ~bit) | (o->of[op->dst.reg] & kept(&op->dst));
	} else if (op->kind == INSN_OP_AND && masks(o, op)) {
		o->of[op->dst.reg] &= with | kept(&op->dst);
		o->flags = here & with;
	} else if (op->kind == INSN_OP_OR && masks(o, op)) {
		o->of[op->dst.reg] = (here & ~with) | (o->of[op->dst.reg] & kept(&op->dst));
		o->flags = here & ~with;
	} else {
		spread(o, op);
	}
}

static bool is_live(const struct origin *o)
{
	return o->flags || origin_of(o, (uint16_t)~0u);
}

/* Whether the instruction stores a value that is followed to the stack, from where it may be loaded again. */
static bool spills(const struct origin *o, const struct insn_op *op)
{
	bool stack = op->insn.nmem && (op->insn.mem[0].base == X86_RSP || op->insn.mem[0].base == X86_RBP);

	return origin_of(o, op->data) &&
	       (op->kind == INSN_OP_PUSH || (stack && op->insn.mem[0].rw & INSN_WRITE && op->kind != INSN_OP_CALL));
}

static void call(struct origin *o)
{
	for (int r = 0; r < X86_GPRS; r++)
		o->of[r] = has(DECISION_KEPT, r) ? o->of[r] : 0;
	o->flags = 0;
}

/*
 * Returns the bits by which the instruction decides: of the flags that it reads, of a register on which it jumps (jrcxz), and
 * of the address of memory that it reads, since code may decide by what is there.
 */
static uint64_t decided(const struct origin *o, const struct insn_op *op)
{
	bool loads = op->insn.nmem && op->insn.mem[0].rw & INSN_READ;

	return (op->reads_flags ? o->flags : 0) | (op->kind == INSN_OP_JCC ? origin_of(o, op->data) : 0) |
	       (loads ? origin_of(o, op->reads & (uint16_t)~op->data) : 0);
}

/* Follow the value from the instruction at GVA `at` to the end of each path. */
static void follow(struct search *s, uint64_t at, struct origin o, unsigned branches)
{
	struct insn_op op;
	size_t from;

	while (is_live(&o) && s->bits != ALL) {
		from = at - s->code->addr;
		if (s->insns++ == INSNS_MAX || from >= s->code->len ||
		    !insn_op_decode(s->decoder, s->code->bytes + from, s->code->len - from, at, &op) || spills(&o, &op) ||
		    (op.kind == INSN_OP_JCC && branches == BRANCHES_MAX)) {
			s->bits = ALL;
			return;
		}
		at += op.insn.len;
		s->bits |= decided(&o, &op);
		switch (op.kind) {
		case INSN_OP_STOP:
			return;
		case INSN_OP_RET:
			s->bits |= o.of[X86_RAX];
			return;
		case INSN_OP_JUMP:
			/* A jump out of the function is a tail call, or leads to a return thunk. */
			if (op.target - s->code->addr >= s->code->len) {
				s->bits |= origin_of(&o, DECISION_ARGUMENTS | 1u << X86_RAX | op.data);
				return;
			}
			at = op.target;
			break;
		case INSN_OP_JCC:
			follow(s, op.target, o, ++branches);
			break;
		case INSN_OP_CALL:
			s->bits |= origin_of(&o, DECISION_ARGUMENTS | op.data);
			call(&o);
			break;
		default:
			step(&o, &op);
		}
	}
}

/* Begin at the instruction that reads the value. */
static bool begin(const struct insn_op *op, struct origin *o)
{
	*o = (struct origin){0};
	if (op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_MEM && op->dst.kind == INSN_OPERAND_REG && !op->dst.high)
		set(o, op->dst.reg, decision_low_bits(op->src.size), true);
	else if (op->kind == INSN_OP_TEST && op->dst.kind == INSN_OPERAND_MEM && op->src.kind == INSN_OPERAND_IMM)
		o->flags = op->imm & decision_low_bits(op->dst.size);
	else
		return false;
	return true;
}

uint64_t decision_bits(struct insn_decoder *decoder, const struct decision_code *code, uint64_t addr)
{
	struct search s = {.decoder = decoder, .code = code, .addr = addr};
	size_t from = addr - code->addr;
	struct insn_op op;
	struct origin o;

	if (from >= code->len || !insn_op_decode(decoder, code->bytes + from, code->len - from, addr, &op) || !begin(&op, &o))
		return ALL;
	follow(&s, addr + op.insn.len, o, 0);
	return s.bits;
}
