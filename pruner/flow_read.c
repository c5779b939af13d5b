// SPDX-License-Identifier: GPL-2.0-or-later
/* What becomes of a loaded value: followed forwards on every way, register by register. */
#include <stdlib.h>
#include <string.h>

#include "pruner/flow_internal.h"

#define STEPS_PER_INSN 64

/* What a register has of the value: `mask` bits of it, moved down by `shift`; `made`: something was made of it. */
struct part {
	uint64_t mask;
	uint8_t shift;
	bool made;
};

struct parts {
	bool reached, queued;
	struct part gpr[X86_GPRS];
};

struct follow {
	const struct flow *flow;
	unsigned from;
	struct flow_read *out;
	struct parts *parts; /* before each instruction */
	unsigned *queue, queue_len;
};

static const uint16_t arguments = 1u << X86_RDI | 1u << X86_RSI | 1u << X86_RDX | 1u << X86_RCX | 3u << X86_R8;
static const uint16_t callee_saved = 1u << X86_RBX | 1u << X86_RBP | 1u << X86_RSP | 0xfu << 12;

static uint64_t bits_of(const struct part *p)
{
	return p->mask << p->shift;
}

/* Whatever of the value is in these registers may matter from here on. */
static void use(struct follow *f, const struct parts *parts, uint16_t regs)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (regs >> reg & 1)
			f->out->used |= bits_of(&parts->gpr[reg]);
	}
}

static bool has_some(const struct parts *parts, uint16_t regs)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (regs >> reg & 1 && (parts->gpr[reg].mask || parts->gpr[reg].made))
			return true;
	}
	return false;
}

static void escape(struct follow *f, const struct parts *parts, uint16_t regs)
{
	f->out->escapes |= has_some(parts, regs);
}

static void leave(struct follow *f, const struct parts *parts, uint16_t regs)
{
	use(f, parts, regs);
	escape(f, parts, regs);
}

static void clear(struct parts *parts, uint16_t regs)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (regs >> reg & 1)
			parts->gpr[reg] = (struct part){0};
	}
}

static void note_address(struct follow *f, const struct parts *parts, const struct insn_op *op)
{
	for (unsigned i = 0; i < op->insn.nmem; i++) {
		const struct insn_mem *mem = &op->insn.mem[i];
		uint16_t regs = (uint16_t)((mem->base >= 0 ? 1u << mem->base : 0) | (mem->index >= 0 ? 1u << mem->index : 0));

		if (has_some(parts, regs)) {
			f->out->dereferenced = f->out->escapes = true;
			use(f, parts, regs);
		}
	}
}

static void store(struct follow *f, const struct parts *parts, const struct insn_op *op, unsigned i)
{
	struct flow_write write;

	use(f, parts, op->reads);
	escape(f, parts, op->reads);
	if (!has_some(parts, op->reads) || op->insn.flags & INSN_LOCKED || !flow_same_place(f->flow, f->from, i))
		return;
	flow_write(f->flow, i, &write);
	f->out->written_back = true;
	f->out->steps |= write.steps;
}

/* Whether anything reads the flags that instruction `i` sets, as the code stands: compilers move only moves in between. */
static bool flags_are_read(const struct follow *f, unsigned i)
{
	const struct code *code = f->flow->code;

	while (++i < code->count) {
		const struct insn_op *op = &code->insns[i].op;

		if (op->reads_flags || op->kind == INSN_OP_JUMP)
			return true;
		if (op->kind == INSN_OP_CALL || op->kind == INSN_OP_RET || (op->kind >= INSN_OP_AND && op->kind <= INSN_OP_BTC))
			return false;
	}
	return true;
}

/*
 * Not understood: it may look at all of what it reads, and what it makes of that is no part of the value any more. It goes no
 * further than the register that it is made in, unless flags tell of it.
 */
static void other(struct follow *f, struct parts *parts, const struct insn_op *op, unsigned i)
{
	bool some = has_some(parts, op->reads);

	use(f, parts, op->reads);
	f->out->escapes |= some && (op->dst.kind != INSN_OPERAND_REG || op->dst.high || flags_are_read(f, i));
	clear(parts, op->writes);
	for (unsigned reg = 0; some && reg < X86_GPRS; reg++) {
		if (op->writes >> reg & 1 && reg != X86_RSP)
			parts->gpr[reg].made = true;
	}
}

static void test(struct follow *f, const struct parts *parts, const struct insn_op *op)
{
	uint64_t looked_at = flow_bytes(op->dst.size);

	if (!has_some(parts, op->reads))
		return;
	f->out->tested = f->out->escapes = true;
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

/* and, shr and mov of registers leave a part of the value; every other operation on one is not followed. */
static void change(struct follow *f, struct parts *parts, const struct insn_op *op, unsigned i)
{
	struct part *dst = &parts->gpr[op->dst.reg];

	if (op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_REG && !op->src.high && op->dst.size >= 4) {
		*dst = parts->gpr[op->src.reg];
		dst->mask &= flow_bytes(op->src.size);
	} else if (op->kind == INSN_OP_AND && op->src.kind == INSN_OPERAND_IMM && op->dst.size >= 4) {
		dst->mask &= op->imm & flow_bytes(op->dst.size);
		dst->made |= dst->mask != 0;
		if (flags_are_read(f, i)) {
			f->out->tested = f->out->escapes = true;
			use(f, parts, op->writes);
		}
	} else if (op->kind == INSN_OP_SHR && op->src.kind == INSN_OPERAND_IMM && op->dst.size >= 4 &&
		   (op->imm & 63) + dst->shift < 64) {
		if (flags_are_read(f, i)) {
			use(f, parts, op->reads);
			escape(f, parts, op->reads);
		}
		dst->mask = (dst->mask & flow_bytes(op->dst.size)) >> (op->imm & 63);
		dst->shift += op->imm & 63;
	} else if (op->kind == INSN_OP_XOR && op->src.kind == INSN_OPERAND_REG && op->src.reg == op->dst.reg) {
		clear(parts, op->writes);
	} else {
		other(f, parts, op, i);
	}
}

/*
 * Whether what instruction `i` pushes is an argument of a call that shows it: nothing but loads, moves and more pushes stands
 * between them.
 */
static bool pushed_to_show(const struct code *code, unsigned i)
{
	while (++i < code->count) {
		const struct insn_op *op = &code->insns[i].op;
		bool moves = op->dst.kind == INSN_OPERAND_REG && op->dst.reg != X86_RSP;

		if (op->kind == INSN_OP_CALL)
			return code->insns[i].shows;
		if (op->insn.nmem && op->insn.mem[0].base == X86_RSP)
			return false;
		if (op->kind != INSN_OP_PUSH && op->kind != INSN_OP_NOP &&
		    !(moves && op->kind >= INSN_OP_MOV && op->kind <= INSN_OP_LEA))
			return false;
	}
	return false;
}

static void push(struct follow *f, const struct parts *parts, const struct insn_op *op, unsigned i)
{
	use(f, parts, op->reads);
	if (!has_some(parts, op->reads))
		return;
	if (pushed_to_show(f->flow->code, i))
		f->out->shown = true;
	else
		f->out->escapes = true;
}

static void call(struct follow *f, struct parts *parts, const struct insn_op *op, unsigned i)
{
	use(f, parts, arguments | op->reads);
	if (f->flow->code->insns[i].shows)
		f->out->shown |= has_some(parts, arguments);
	else
		escape(f, parts, arguments | op->reads);
	clear(parts, (uint16_t)~callee_saved);
}

static void step(struct follow *f, struct parts *parts, unsigned i)
{
	const struct insn_op *op = &f->flow->code->insns[i].op;

	note_address(f, parts, op);
	if (op->kind == INSN_OP_CALL)
		call(f, parts, op, i);
	else if (op->kind == INSN_OP_PUSH)
		push(f, parts, op, i);
	else if (op->kind == INSN_OP_RET)
		leave(f, parts, 1u << X86_RAX);
	else if (op->kind == INSN_OP_JCC || op->kind == INSN_OP_NOP)
		return;
	else if (op->kind == INSN_OP_TEST || op->kind == INSN_OP_CMP || op->kind == INSN_OP_BT)
		test(f, parts, op);
	else if (op->dst.kind == INSN_OPERAND_MEM)
		store(f, parts, op, i);
	else if (op->dst.kind == INSN_OPERAND_REG && !op->dst.high)
		change(f, parts, op, i);
	else
		other(f, parts, op, i);
}

/* Two ways meet. What two parts of the value have in common cannot be said: both are used. True: `into` changed. */
static bool join(struct follow *f, struct parts *into, const struct parts *from)
{
	bool changed = !into->reached;

	if (changed) {
		*into = (struct parts){.reached = true, .queued = into->queued};
		memcpy(into->gpr, from->gpr, sizeof(into->gpr));
		return true;
	}
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		struct part *a = &into->gpr[reg];
		const struct part *b = &from->gpr[reg];
		uint64_t mask = a->mask | b->mask;

		if (a->mask && b->mask && a->shift != b->shift) {
			f->out->used |= bits_of(a) | bits_of(b);
			mask = a->mask;
		}
		changed |= mask != a->mask || (b->made && !a->made);
		if (!a->mask)
			a->shift = b->shift;
		a->mask = mask;
		a->made |= b->made;
	}
	return changed;
}

static void go_on(struct follow *f, unsigned i, const struct parts *parts)
{
	int next[2];
	unsigned n = code_next(f->flow->code, i, next);

	for (unsigned j = 0; j < n; j++) {
		if (next[j] == CODE_OUTSIDE) {
			leave(f, parts, UINT16_MAX);
			continue;
		}
		if (has_some(parts, UINT16_MAX) && join(f, &f->parts[next[j]], parts) && !f->parts[next[j]].queued) {
			f->parts[next[j]].queued = true;
			f->queue[f->queue_len++] = (unsigned)next[j];
		}
	}
}

static void follow(struct follow *f, const struct parts *start)
{
	unsigned left = STEPS_PER_INSN * f->flow->code->count;

	go_on(f, f->from, start);
	while (f->queue_len && left--) {
		unsigned i = f->queue[--f->queue_len];
		struct parts parts = f->parts[i];

		f->parts[i].queued = false;
		step(f, &parts, i);
		go_on(f, i, &parts);
	}
	if (f->queue_len) {
		f->out->used = ~0ull;
		f->out->escapes = true;
	}
}

/* Where the loaded value is behind the access; false: nowhere, the instruction itself looks at it. */
static bool loaded_into(const struct insn_op *op, struct parts *start)
{
	unsigned size = op->src.size;

	if (op->src.kind != INSN_OPERAND_MEM || op->dst.kind != INSN_OPERAND_REG || op->dst.high || op->kind == INSN_OP_TEST ||
	    op->kind == INSN_OP_CMP)
		return false;
	start->gpr[op->dst.reg] = (struct part){.mask = flow_bytes(size)};
	return true;
}

void flow_read(const struct flow *flow, unsigned i, struct flow_read *out)
{
	const struct insn_op *op = &flow->code->insns[i].op;
	uint64_t all = flow_bytes(op->insn.nmem ? op->insn.mem[0].size : 8);
	struct follow f = {.flow = flow, .from = i, .out = out};
	struct parts start = {.reached = true};

	*out = (struct flow_read){.used = all, .escapes = true};
	if (op->dst.kind == INSN_OPERAND_MEM && op->src.kind == INSN_OPERAND_IMM &&
	    (op->kind == INSN_OP_TEST || op->kind == INSN_OP_CMP || op->kind == INSN_OP_BT)) {
		out->tested = true;
		if (op->kind == INSN_OP_TEST)
			out->used = op->imm & all;
		else if (op->kind == INSN_OP_BT)
			out->used = 1ull << (op->imm & (8 * op->dst.size - 1));
		return;
	}
	if (op->kind == INSN_OP_PUSH && !flow->failed) {
		out->shown = pushed_to_show(flow->code, i);
		out->escapes = !out->shown;
		return;
	}
	out->tested = op->kind == INSN_OP_TEST || op->kind == INSN_OP_CMP;
	f.parts = calloc(flow->code->count, sizeof(*f.parts));
	f.queue = calloc(flow->code->count, sizeof(*f.queue));
	if (!flow->failed && f.parts && f.queue && loaded_into(op, &start)) {
		/* An operation on what the register held before: all of the value counts. */
		if (op->kind != INSN_OP_MOV)
			start.gpr[op->dst.reg].made = true;
		out->used = op->kind == INSN_OP_MOV ? 0 : all;
		out->escapes = op->kind != INSN_OP_MOV && flags_are_read(&f, i);
		follow(&f, &start);
		out->used &= all;
	}
	free(f.parts);
	free(f.queue);
}
