// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out whether what code reads decides which results a function returns (decision_results.h). */
#include "hv/detect/locks/decision_results.h"

#include <string.h>

#include "hv/detect/locks/decision_registers.h"
#include "symbols/insn/flow.h"
#include "symbols/insn/op.h"

/* Limits of one search. ext4_es_lookup_extent() of Debian's 6.1.0-56 needs 129 instructions and 8 points. */
#define INSNS_MAX 2048u
#define SEEN_MAX 128u
#define PENDING_MAX 64u
/* A function that returns more constants, or branches by the value at more places, is left out. */
#define RESULTS_MAX 8u
#define BRANCHES_MAX 8u

enum zero { ZERO_UNKNOWN, ZERO_SET, ZERO_CLEAR }; /* ZF */

/* A point of a path: which registers have a constant there, and which registers and flags depend on the value. */
struct point {
	uint64_t at; /* GVA */
	uint64_t values[X86_GPRS];
	uint16_t known, depends; /* one bit for each enum x86_gpr */
	bool flags_depend;
	enum zero zero;
};

struct search {
	struct insn_decoder *decoder;
	const struct decision_code *code;
	uint64_t addr; /* GVA of the instruction that reads the value */
	const struct decision_returns *returns;
	/* Points at conditional branches, from which the paths were followed. */
	struct point seen[SEEN_MAX];
	struct point pending[PENDING_MAX];
	/* The conditional branches that depend on the value. */
	uint64_t branches[BRANCHES_MAX];
	uint32_t results[RESULTS_MAX];
	unsigned seen_count, pending_count, branch_count, result_count, insns;
	/* Branches are looked for, and not results. */
	bool finding;
	bool unclear;
};

static bool is_register(const struct insn_operand *operand)
{
	return operand->kind == INSN_OPERAND_REG && !operand->high;
}

/* Whether the operand is a register with a constant. A constant has all bits of the register. */
static bool is_known(const struct point *p, const struct insn_operand *operand)
{
	return is_register(operand) && p->known >> operand->reg & 1;
}

static void set(struct point *p, const struct insn_operand *reg, uint64_t value)
{
	p->known |= (uint16_t)(1u << reg->reg);
	p->values[reg->reg] = value & decision_low_bits(reg->size);
}

/* Find out what the flags say about a register that has a constant. */
static enum zero compare(const struct point *p, const struct insn_op *op)
{
	uint64_t value, bits = decision_low_bits(op->dst.size);

	if (!is_known(p, &op->dst))
		return ZERO_UNKNOWN;
	value = p->values[op->dst.reg] & bits;
	if (op->kind == INSN_OP_TEST && is_register(&op->src) && op->src.reg == op->dst.reg)
		return value ? ZERO_CLEAR : ZERO_SET;
	if (op->kind == INSN_OP_CMP && op->src.kind == INSN_OPERAND_IMM)
		return value == (op->imm & bits) ? ZERO_SET : ZERO_CLEAR;
	return ZERO_UNKNOWN;
}

/* Follow the constants over an instruction that is no branch and no call. */
static void step_constants(struct point *p, const struct insn_op *op)
{
	bool wide = op->dst.kind == INSN_OPERAND_REG && op->dst.size >= sizeof(uint32_t);

	if (op->sets_flags)
		p->zero = compare(p, op);
	if (decision_clears(op))
		set(p, &op->dst, 0);
	else if (wide && op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_IMM)
		set(p, &op->dst, op->imm);
	else if (wide && op->kind == INSN_OP_MOV && is_known(p, &op->src))
		set(p, &op->dst, p->values[op->src.reg] & decision_low_bits(op->src.size));
	else
		p->known &= (uint16_t)~op->writes;
}

/* The same for what depends on the value. What a pointer leads to is another value. */
static void step_dependence(struct point *p, const struct insn_op *op)
{
	bool depends = (op->kind == INSN_OP_LEA ? op->reads : op->data) & p->depends || (op->reads_flags && p->flags_depend);

	p->depends = depends ? p->depends | op->writes : p->depends & (uint16_t)~op->writes;
	if (op->sets_flags)
		p->flags_depend = depends;
}

/* A call keeps some registers. Its result may depend on the value if the value is in an argument. */
static void step_call(struct point *p, const struct insn_op *op)
{
	bool passed = p->depends & (DECISION_ARGUMENTS | op->data);

	p->known &= DECISION_KEPT;
	p->zero = ZERO_UNKNOWN;
	p->depends = (uint16_t)((p->depends & DECISION_KEPT) | (passed ? 1u << X86_RAX : 0));
	p->flags_depend = false;
}

/* Whether the instruction stores to the stack, except for a push. What is loaded from there later is not followed. */
static bool spills(const struct insn_op *op)
{
	const struct insn_mem *mem = &op->insn.mem[0];

	return op->insn.nmem && mem->rw & INSN_WRITE && (mem->base == X86_RSP || mem->base == X86_RBP) &&
	       op->kind != INSN_OP_PUSH && op->kind != INSN_OP_CALL;
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

	if (s->finding)
		s->unclear |= p->depends >> X86_RAX & 1;
	else if (!(p->known >> X86_RAX & 1) || (!has_result(s, result) && s->result_count == RESULTS_MAX))
		s->unclear = true;
	else if (!has_result(s, result))
		s->results[s->result_count++] = result;
}

static void add_branch(struct search *s, uint64_t at)
{
	for (unsigned i = 0; i < s->branch_count; i++) {
		if (s->branches[i] == at)
			return;
	}
	if (s->branch_count == BRANCHES_MAX)
		s->unclear = true;
	else
		s->branches[s->branch_count++] = at;
}

static bool is_same(const struct point *a, const struct point *b)
{
	if (a->at != b->at || a->known != b->known || a->zero != b->zero || a->depends != b->depends ||
	    a->flags_depend != b->flags_depend)
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

static bool is_outside(const struct search *s, uint64_t gva)
{
	return gva - s->code->addr >= s->code->len;
}

/* Decode the instruction at GVA `at`. Returns its length, or 0. */
static unsigned decode(const struct search *s, uint64_t at, struct insn_op *op)
{
	size_t from = at - s->code->addr;

	return is_outside(s, at) ? 0 : insn_op_decode(s->decoder, s->code->bytes + from, s->code->len - from, at, op);
}

/* Whether nothing but padding follows from GVA `at` to the end of the function. */
static bool is_end(struct search *s, uint64_t at)
{
	struct insn_op op;
	unsigned n;

	for (; !is_outside(s, at); at += n) {
		n = decode(s, at, &op);
		if (!n || s->insns++ >= INSNS_MAX || (op.kind != INSN_OP_NOP && op.kind != INSN_OP_STOP) ||
		    insn_is_ud2(&op.insn))
			return false;
	}
	return true;
}

/* Go on after a conditional branch at `p->at`: to its target, to what follows, or to both if the flags do not decide. */
static void split(struct search *s, struct point *p, const struct insn_op *op)
{
	uint8_t condition = decision_condition(op);
	bool by_zero = op->reads_flags && (condition & ~1u) == DECISION_BY_ZERO;
	struct point taken = *p;

	if (op->reads_flags ? p->flags_depend : op->data & p->depends)
		add_branch(s, p->at);
	taken.at = op->target;
	p->at += op->insn.len;
	if (is_outside(s, op->target) || s->pending_count == PENDING_MAX)
		s->unclear = true;
	else if (p->zero == ZERO_UNKNOWN || !by_zero)
		s->pending[s->pending_count++] = taken;
	else if ((p->zero == ZERO_SET) != (condition & 1))
		*p = taken;
}

/* A jump leads on in the function, or returns from it. Returns whether the path goes on. */
static bool jump(struct search *s, struct point *p, uint64_t target)
{
	if (target && !is_outside(s, target)) {
		p->at = target;
		return true;
	}
	if (target && s->returns->answer(s->returns->ctx, target))
		add_result(s, p);
	else
		s->unclear |= !s->finding || p->depends & DECISION_ARGUMENTS;
	return false;
}

/* Follow one path to its end. A path that leads out of the code does not return: a call there does not come back. */
static void follow(struct search *s, struct point p)
{
	struct insn_op op;

	while (!s->unclear && !is_outside(s, p.at)) {
		/* Code that reads the value again may wait until it is the right one, and then returns the same in any case. */
		if (s->insns++ >= INSNS_MAX || p.at == s->addr || !decode(s, p.at, &op) || spills(&op)) {
			s->unclear = true;
			return;
		}
		if (op.kind == INSN_OP_JCC) {
			if (been_here(s, &p))
				return;
			split(s, &p, &op);
			continue;
		}
		p.at += op.insn.len;
		if (op.kind == INSN_OP_STOP)
			return;
		if (op.kind == INSN_OP_RET) {
			add_result(s, &p);
			return;
		}
		if (op.kind == INSN_OP_JUMP && !jump(s, &p, op.target))
			return;
		/* After a ud2, the kernel goes on only if it is of a WARN_ON(). */
		if (insn_is_ud2(&op.insn)) {
			s->unclear |= !is_end(s, p.at);
			return;
		}
		if (op.kind == INSN_OP_CALL) {
			step_call(&p, &op);
		} else if (op.kind != INSN_OP_JUMP) {
			step_constants(&p, &op);
			step_dependence(&p, &op);
		}
	}
}

/* Follow all paths from this point on. */
static void search(struct search *s, const struct point *from)
{
	s->seen_count = s->branch_count = s->result_count = s->insns = 0;
	s->pending[0] = *from;
	s->pending_count = 1;
	while (s->pending_count && !s->unclear) {
		s->pending_count--;
		follow(s, s->pending[s->pending_count]);
	}
}

/* Returns whether the function returns the same results after either outcome of the branch, and at least `least`. */
static bool same_after(struct search *s, uint64_t branch, unsigned least)
{
	uint32_t taken[RESULTS_MAX];
	struct insn_op op;
	unsigned count, n = decode(s, branch, &op);

	if (!n)
		return false;
	search(s, &(struct point){.at = op.target});
	count = s->result_count;
	memcpy(taken, s->results, sizeof(taken));
	search(s, &(struct point){.at = branch + n});
	if (s->unclear || count < least || s->result_count != count)
		return false;
	for (unsigned i = 0; i < count; i++) {
		if (!has_result(s, taken[i]))
			return false;
	}
	return true;
}

bool decision_same_results(struct insn_decoder *decoder, const struct decision_code *code, uint64_t addr,
			   const struct decision_returns *returns)
{
	struct search s = {.decoder = decoder, .code = code, .addr = addr, .returns = returns, .finding = true};
	uint64_t branches[BRANCHES_MAX];
	struct insn_op op;
	unsigned count, n = decode(&s, addr, &op);

	if (!n)
		return false;
	search(&s, &(struct point){.at = addr + n, .depends = op.writes, .flags_depend = op.sets_flags});
	count = s.branch_count;
	memcpy(branches, s.branches, sizeof(branches));
	s.finding = false;
	if (s.unclear || !count)
		return false;
	for (unsigned i = 0; i < count; i++) {
		if (!same_after(&s, branches[i], i ? 1 : 2))
			return false;
	}
	return true;
}
