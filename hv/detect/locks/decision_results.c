// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out whether a branch decides which results a function returns (decision_results.h). */
#include "hv/detect/locks/decision_results.h"

#include "hv/detect/locks/decision_registers.h"
#include "symbols/insn/op.h"

/* Limits, for all paths from one outcome of the branch together. The largest functions of Linux's lookups need a tenth. */
#define INSNS_MAX 4096u
#define SEEN_MAX 128u
#define PENDING_MAX 64u
/* A function that returns more constants than this is left out. */
#define RESULTS_MAX 8u

enum zero { ZERO_UNKNOWN, ZERO_SET, ZERO_CLEAR }; /* ZF */

/* A point of a path, with the registers that have a constant there. */
struct point {
	uint64_t at; /* GVA */
	uint64_t values[X86_GPRS];
	uint16_t known; /* one bit for each enum x86_gpr */
	enum zero zero;
};

struct search {
	struct insn_decoder *decoder;
	const struct decision_code *code;
	const struct decision_returns *returns;
	/* Points at conditional branches, from which the paths were followed. */
	struct point seen[SEEN_MAX];
	struct point pending[PENDING_MAX];
	uint32_t results[RESULTS_MAX];
	unsigned seen_count, pending_count, result_count, insns;
	bool unclear;
};

static bool is_known(const struct point *p, const struct insn_operand *operand)
{
	return operand->kind == INSN_OPERAND_REG && operand->size >= sizeof(uint32_t) && p->known >> operand->reg & 1;
}

static void set(struct point *p, const struct insn_operand *reg, uint64_t value)
{
	p->known |= (uint16_t)(1u << reg->reg);
	p->values[reg->reg] = value & decision_low_bits(reg->size);
}

/* Find out what the flags say about a register that has a constant. */
static enum zero compare(const struct point *p, const struct insn_op *op)
{
	uint64_t value, with = op->imm & decision_low_bits(op->dst.size);

	if (!is_known(p, &op->dst))
		return ZERO_UNKNOWN;
	value = p->values[op->dst.reg] & decision_low_bits(op->dst.size);
	if (op->kind == INSN_OP_TEST && op->src.kind == INSN_OPERAND_REG && op->src.reg == op->dst.reg)
		return value ? ZERO_CLEAR : ZERO_SET;
	if (op->kind == INSN_OP_CMP && op->src.kind == INSN_OPERAND_IMM)
		return value == with ? ZERO_SET : ZERO_CLEAR;
	return ZERO_UNKNOWN;
}

/* What an instruction does that is no branch and no call. */
static void step(struct point *p, const struct insn_op *op)
{
	bool wide = op->dst.kind == INSN_OPERAND_REG && op->dst.size >= sizeof(uint32_t);
	bool clears = wide && (op->kind == INSN_OP_XOR || op->kind == INSN_OP_SUB) && op->src.kind == INSN_OPERAND_REG &&
		      op->src.reg == op->dst.reg;

	if (op->sets_flags)
		p->zero = compare(p, op);
	if (clears)
		set(p, &op->dst, 0);
	else if (wide && op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_IMM)
		set(p, &op->dst, op->imm);
	else if (wide && op->kind == INSN_OP_MOV && is_known(p, &op->src))
		set(p, &op->dst, p->values[op->src.reg] & decision_low_bits(op->src.size));
	else
		p->known &= (uint16_t)~op->writes;
}

static bool has_result(const struct search *s, uint32_t result)
{
	for (unsigned i = 0; i < s->result_count; i++) {
		if (s->results[i] == result)
			return true;
	}
	return false;
}

static void add_result(struct search *s, const struct point *p)
{
	uint32_t result = (uint32_t)p->values[X86_RAX];

	if (!(p->known >> X86_RAX & 1) || (!has_result(s, result) && s->result_count == RESULTS_MAX))
		s->unclear = true;
	else if (!has_result(s, result))
		s->results[s->result_count++] = result;
}

static bool is_same(const struct point *a, const struct point *b)
{
	if (a->at != b->at || a->known != b->known || a->zero != b->zero)
		return false;
	for (unsigned r = 0; r < X86_GPRS; r++) {
		if (a->known >> r & 1 && a->values[r] != b->values[r])
			return false;
	}
	return true;
}

/* Returns whether the paths from this point are already followed. Otherwise notes that they are, from now on. */
static bool been_here(struct search *s, const struct point *p)
{
	for (unsigned i = 0; i < s->seen_count; i++) {
		if (is_same(&s->seen[i], p))
			return true;
	}
	if (s->seen_count == SEEN_MAX)
		s->unclear = true;
	else
		s->seen[s->seen_count++] = *p;
	return s->unclear;
}

/* Returns whether the instruction is a je or a jne. */
static bool looks_at_zero(const struct insn_op *op)
{
	const uint8_t *b = op->insn.bytes;

	return op->reads_flags && ((b[0] == 0x0f ? b[1] & 0x0f : b[0] & 0x0f) & ~1u) == 4;
}

/* Go on after a conditional branch to `op->target`, or to p->at: one of them if the flags are known, and otherwise both. */
static void split(struct search *s, struct point *p, const struct insn_op *op)
{
	bool not_equal = (op->insn.bytes[0] == 0x0f ? op->insn.bytes[1] : op->insn.bytes[0]) & 1;
	struct point taken = *p;

	taken.at = op->target;
	if (p->zero != ZERO_UNKNOWN && looks_at_zero(op)) {
		if ((p->zero == ZERO_SET) != not_equal)
			*p = taken;
	} else if (s->pending_count == PENDING_MAX) {
		s->unclear = true;
	} else {
		s->pending[s->pending_count++] = taken;
	}
}

static bool is_outside(const struct search *s, uint64_t gva)
{
	return gva - s->code->addr >= s->code->len;
}

/* Follow one path to its end. */
static void follow(struct search *s, struct point p)
{
	struct insn_op op;
	size_t from;

	/* A path that leads to the end of the code does not return: it ends in a ud2, or a call that does not return. */
	while (!s->unclear && !is_outside(s, p.at)) {
		from = p.at - s->code->addr;
		if (s->insns++ == INSNS_MAX ||
		    !insn_op_decode(s->decoder, s->code->bytes + from, s->code->len - from, p.at, &op)) {
			s->unclear = true;
			return;
		}
		if (op.kind == INSN_OP_JCC && been_here(s, &p))
			return;
		p.at += op.insn.len;
		switch (op.kind) {
		case INSN_OP_STOP:
			return;
		case INSN_OP_RET:
			add_result(s, &p);
			return;
		case INSN_OP_JUMP:
			if (op.target && !is_outside(s, op.target)) {
				p.at = op.target;
				break;
			}
			if (op.target && s->returns->answer(s->returns->ctx, op.target))
				add_result(s, &p);
			else
				s->unclear = true;
			return;
		case INSN_OP_JCC:
			s->unclear |= is_outside(s, op.target);
			split(s, &p, &op);
			break;
		case INSN_OP_CALL:
			p.known &= DECISION_KEPT;
			p.zero = ZERO_UNKNOWN;
			break;
		default:
			step(&p, &op);
		}
	}
}

/* Find the results of all paths from `at` on. */
static void find_results(struct search *s, uint64_t at)
{
	s->seen_count = s->result_count = s->insns = 0;
	s->pending[0] = (struct point){.at = at};
	s->pending_count = 1;
	while (s->pending_count && !s->unclear) {
		s->pending_count--;
		follow(s, s->pending[s->pending_count]);
	}
}

bool decision_same_results(struct insn_decoder *decoder, const struct decision_code *code, uint64_t branch,
			   const struct decision_returns *returns)
{
	struct search s = {.decoder = decoder, .code = code, .returns = returns};
	uint32_t taken[RESULTS_MAX];
	size_t from = branch - code->addr;
	struct insn_op op;
	unsigned count;

	if (from >= code->len || !insn_op_decode(decoder, code->bytes + from, code->len - from, branch, &op) ||
	    op.kind != INSN_OP_JCC || is_outside(&s, op.target))
		return false;
	find_results(&s, op.target);
	count = s.result_count;
	for (unsigned i = 0; i < count; i++)
		taken[i] = s.results[i];
	find_results(&s, branch + op.insn.len);
	if (s.unclear || !count || s.result_count != count)
		return false;
	for (unsigned i = 0; i < count; i++) {
		if (!has_result(&s, taken[i]))
			return false;
	}
	return true;
}
