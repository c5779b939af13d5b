// SPDX-License-Identifier: GPL-2.0-or-later
/* What becomes of a loaded value: followed forwards on every way, register by register. */
#include <stdlib.h>
#include <string.h>

#include "pruner/flow_internal.h"

#define STEPS_PER_INSN 64
#define LEA_NUMBER_MAX 4096 /* what lea adds beyond is an array's address, and not arithmetic of the source */

/* Something that was made of the value, in order of what may be. */
enum made {
	NOT_MADE,
	POPPED, /* by a pop, behind a push of some of it: compilers drop what was pushed so, into any register */
	MADE,
};

/* What a register has of the value: `mask` bits of it, moved down by `shift`; and whether it has something made of it. */
struct part {
	uint64_t mask;
	uint8_t shift;
	uint8_t made; /* enum made */
};

struct parts {
	bool reached, queued;
	bool pushed; /* some of the value was: it may be what a pop gets */
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

/* Those of `regs` that have some of the value, or something made of it. */
static uint16_t with_some(const struct parts *parts, uint16_t regs)
{
	uint16_t out = 0;

	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (parts->gpr[reg].mask || parts->gpr[reg].made)
			out |= (uint16_t)(1u << reg);
	}
	return out & regs;
}

static bool has_some(const struct parts *parts, uint16_t regs)
{
	return with_some(parts, regs) != 0;
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

/* The registers hold something new, made of the value or not. */
static void set_made(struct parts *parts, uint16_t regs, enum made made)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (regs >> reg & 1)
			parts->gpr[reg] = (struct part){.made = made};
	}
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

/*
 * Whether the instruction leaves nothing of the flags that were there. inc and dec, which are an addition of 1 here, keep CF;
 * bt and its like keep ZF; a shift by a register may be one by 0.
 */
static bool sets_all_flags(const struct insn_op *op)
{
	switch (op->kind) {
	case INSN_OP_AND:
	case INSN_OP_OR:
	case INSN_OP_XOR:
	case INSN_OP_TEST:
	case INSN_OP_CMP:
		return true;
	case INSN_OP_ADD:
	case INSN_OP_SUB:
		return op->src.kind != INSN_OPERAND_IMM || op->imm != 1;
	case INSN_OP_SHL:
	case INSN_OP_SHR:
		return op->src.kind == INSN_OPERAND_IMM && (op->imm & 31);
	default:
		return false;
	}
}

/*
 * Whether anything reads the flags that instruction `i` sets: compilers move only moves in between, and jumps. Functions find
 * and leave none.
 */
static bool flags_are_read(const struct code *code, unsigned i)
{
	int next[2];

	if (!code->insns[i].op.sets_flags)
		return false;
	for (unsigned left = code->count; left; left--) {
		const struct insn_op *op;

		if (code_next(code, i, next) != 1)
			return true;
		if (next[0] == CODE_OUTSIDE)
			return !code->insns[i].callee;
		i = (unsigned)next[0];
		op = &code->insns[i].op;
		if (op->reads_flags || op->kind == INSN_OP_JCC)
			return true;
		if (op->kind == INSN_OP_CALL || op->kind == INSN_OP_RET || sets_all_flags(op))
			return false;
	}
	return true;
}

/* The flags that instruction `i` sets tell of what is in these registers. */
static void note_flags(struct follow *f, const struct parts *parts, uint16_t regs, unsigned i)
{
	if (!has_some(parts, regs) || !flags_are_read(f->flow->code, i))
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
 * Not understood: it may look at all of what it reads, and what it makes of that is no part of the value any more. It goes no
 * further than the register that it is made in; but not into the stack's, of which it would be in every address.
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
	set_made(parts, op->writes & (uint16_t) ~(1u << X86_RSP), some ? MADE : NOT_MADE);
}

/*
 * Arithmetic, or the address of something: an array's element is as far from the value as the array is, which another register
 * says, or a large number. No address fits in 32 bits.
 */
static void lea(struct follow *f, struct parts *parts, const struct insn_op *op, unsigned i)
{
	bool far = op->imm + LEA_NUMBER_MAX > 2 * LEA_NUMBER_MAX;
	uint16_t some = with_some(parts, op->reads);

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

/* jrcxz and loop look at a register. */
static void branch(struct follow *f, struct parts *parts, const struct insn_op *op)
{
	bool some = has_some(parts, op->reads);

	f->out->tested |= some;
	use(f, parts, op->reads);
	set_made(parts, op->writes, some ? MADE : NOT_MADE);
}

/* and, shr and mov of registers leave a part of the value; every other operation on one is not followed. */
static void change(struct follow *f, struct parts *parts, const struct insn_op *op, unsigned i)
{
	struct part *dst = &parts->gpr[op->dst.reg];
	unsigned shift = op->imm & (8 * op->dst.size - 1); /* as much of it as the CPU takes */

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
		clear(parts, op->writes);
	} else if (op->kind == INSN_OP_LEA) {
		lea(f, parts, op, i);
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

static void push(struct follow *f, struct parts *parts, const struct insn_op *op, unsigned i)
{
	use(f, parts, op->reads);
	if (!has_some(parts, op->reads))
		return;
	parts->pushed = true;
	if (pushed_to_show(f->flow->code, i))
		f->out->shown = true;
	else
		f->out->escapes = true;
}

/* Which of the pushed values it gets is not told: any. */
static void pop(struct follow *f, struct parts *parts, const struct insn_op *op)
{
	if (op->dst.kind == INSN_OPERAND_REG && op->dst.reg != X86_RSP)
		set_made(parts, 1u << op->dst.reg, parts->pushed ? POPPED : NOT_MADE);
	else
		f->out->escapes |= parts->pushed;
}

/* Written in assembly: of a retpoline any register is the target, of the others RAX is not what C has there. */
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

	use(f, parts, arguments | op->reads);
	if (takes_any_register(insn->callee))
		leave(f, parts, UINT16_MAX);
	else if (insn->shows)
		f->out->shown |= has_some(parts, arguments);
	else
		escape(f, parts, arguments | op->data);
	clear(parts, (uint16_t)~callee_saved);
}

/* RDX is the second half of a small structure, or stale: that does not tell which bits are used, but goes elsewhere. */
static void ret(struct follow *f, const struct parts *parts)
{
	leave(f, parts, 1u << X86_RAX);
	if (parts->gpr[X86_RDX].made != POPPED)
		escape(f, parts, 1u << X86_RDX);
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

/* What two differently moved parts have in common cannot be said: both are used, and what is there is made of them. */
static bool join_part(struct follow *f, struct part *into, const struct part *from)
{
	struct part out = *into;

	if (!out.mask)
		out.shift = from->shift;
	if (from->made > out.made)
		out.made = from->made;
	if (from->mask && from->shift != out.shift) {
		f->out->used |= bits_of(into) | bits_of(from);
		out.made = MADE;
	} else {
		out.mask |= from->mask;
	}
	if (out.mask == into->mask && out.made == into->made)
		return false;
	*into = out;
	return true;
}

/* Two ways meet. True: `into` changed. */
static bool join(struct follow *f, struct parts *into, const struct parts *from)
{
	bool changed = from->pushed && !into->pushed;

	if (!into->reached) {
		*into = (struct parts){.reached = true, .queued = into->queued, .pushed = from->pushed};
		memcpy(into->gpr, from->gpr, sizeof(into->gpr));
		return true;
	}
	into->pushed |= from->pushed;
	for (unsigned reg = 0; reg < X86_GPRS; reg++)
		changed |= join_part(f, &into->gpr[reg], &from->gpr[reg]);
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
		if ((parts->pushed || has_some(parts, UINT16_MAX)) && join(f, &f->parts[next[j]], parts) &&
		    !f->parts[next[j]].queued) {
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

/* What the instruction itself makes of it, unless the value is left in a register to be followed. */
static void look(const struct code *code, unsigned i, struct flow_read *out)
{
	const struct insn_op *op = &code->insns[i].op;
	bool compares = op->kind == INSN_OP_TEST || op->kind == INSN_OP_CMP || op->kind == INSN_OP_BT;
	bool in_memory = op->dst.kind == INSN_OPERAND_MEM;

	out->tested = compares || flags_are_read(code, i);
	out->escapes = !compares && !(in_memory && op->kind >= INSN_OP_AND && op->kind <= INSN_OP_BTC);
	if (!in_memory || op->src.kind != INSN_OPERAND_IMM)
		return;
	if (op->kind == INSN_OP_TEST)
		out->used &= op->imm;
	else if (op->kind == INSN_OP_BT)
		out->used = 1ull << (op->imm & (8 * op->dst.size - 1));
}

/* Where the loaded value is behind the access; false: nowhere to be followed from. */
static bool begin(struct follow *f, struct parts *parts)
{
	const struct insn_op *op = &f->flow->code->insns[f->from].op;

	if (op->kind == INSN_OP_PUSH) {
		f->out->shown = pushed_to_show(f->flow->code, f->from);
		f->out->escapes = !f->out->shown;
		parts->pushed = true;
		return true;
	}
	if (op->src.kind != INSN_OPERAND_MEM || op->dst.kind != INSN_OPERAND_REG || op->dst.high || op->dst.reg == X86_RSP ||
	    op->kind == INSN_OP_TEST || op->kind == INSN_OP_CMP)
		return false;
	f->out->escapes = false;
	parts->gpr[op->dst.reg].mask = flow_bytes(op->src.size);
	if (op->kind == INSN_OP_MOV)
		f->out->used = 0;
	else /* An operation on what the register held before: all of the value counts. */
		parts->gpr[op->dst.reg].made = MADE;
	return true;
}

void flow_read(const struct flow *flow, unsigned i, struct flow_read *out)
{
	const struct insn_op *op = &flow->code->insns[i].op;
	uint64_t all = flow_bytes(op->insn.nmem ? op->insn.mem[0].size : 8);
	struct follow f = {.flow = flow, .from = i, .out = out};
	struct parts start = {.reached = true};

	*out = (struct flow_read){.used = all};
	look(flow->code, i, out);
	f.parts = calloc(flow->code->count, sizeof(*f.parts));
	f.queue = calloc(flow->code->count, sizeof(*f.queue));
	if (!flow->failed && f.parts && f.queue && begin(&f, &start)) {
		follow(&f, &start);
		out->used &= all;
	}
	free(f.parts);
	free(f.queue);
}
