// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinds a call stack frame by frame: by the ORC rule for the frame's PC, or without a rule by a guess (see unwind.h). */
#include "symbols/unwind/unwind.h"

#include <string.h>

/*
 * struct pt_regs is user-space ABI and consists of 64-bit words (arch/x86/include/uapi/asm/ptrace.h): fifteen general registers
 * in this order, the system call's number or error code, and the frame that the CPU pushes (SDM vol. 3, 6.14.2).
 */
static const uint8_t pt_gpr[] = {15, 14,     13,      12,      X86_RBP, X86_RBX, 11,	 10,
				 9,  X86_R8, X86_RAX, X86_RCX, X86_RDX, X86_RSI, X86_RDI};
enum { PT_GPRS = sizeof(pt_gpr), PT_IRET = PT_GPRS + 1, PT_WORDS = PT_IRET + 5 };
enum { IRET_RIP, IRET_CS, IRET_RFLAGS, IRET_RSP, IRET_SS, IRET_WORDS };

#define ALL_KNOWN 0xffffu
#define NOWHERE UNWIND_STACKS_MAX

/* The current frame. */
struct state {
	const struct unwind_stack *stacks;
	unsigned n;
	const struct unwind_source *source;
	struct unwind *out;

	uint64_t pc, sp, bp;
	bool interrupted; /* pc is the instruction that was interrupted, not a return address */
	bool user;	  /* pc is in user space */
	bool reliable;	  /* no frame has been guessed yet */
	unsigned at;	  /* index of the stack that sp is on, or NOWHERE */
	unsigned entered; /* one bit for each stack that sp has pointed into */
	uint64_t gpr[X86_GPRS];
	uint32_t known;	     /* one bit for each register of gpr[] whose value in this frame is known */
	enum unwind_end why; /* why the last step failed */
};

static bool fail(struct state *s, enum unwind_end why)
{
	s->why = why;
	return false;
}

/* ---- the stacks ---- */

static bool holds(const struct unwind_stack *stack, uint64_t gva, uint32_t len)
{
	return gva >= stack->gva && gva - stack->gva <= stack->len && len <= stack->len - (gva - stack->gva);
}

static bool read_words(struct state *s, uint64_t gva, uint64_t *words, unsigned count)
{
	uint32_t len = count * (uint32_t)sizeof(*words);

	for (unsigned i = 0; i < s->n; i++) {
		const struct unwind_stack *stack = &s->stacks[i];
		uint32_t offset = (uint32_t)(gva - stack->gva);

		if (!holds(stack, gva, len))
			continue;
		memcpy(words, stack->bytes + offset, len);
		if (offset < s->out->used_from[i])
			s->out->used_from[i] = offset;
		return true;
	}
	return fail(s, UNWIND_NO_MEMORY);
}

static unsigned find_stack(const struct state *s, uint64_t sp)
{
	if (s->at != NOWHERE && holds(&s->stacks[s->at], sp, 0))
		return s->at;
	for (unsigned i = 0; i < s->n; i++) {
		if (holds(&s->stacks[i], sp, 0))
			return i;
	}
	return NOWHERE;
}

/* Move the stack pointer. Each stack is entered once and walked only upwards, so unwinding terminates. */
static bool move_to(struct state *s, uint64_t sp)
{
	unsigned at = find_stack(s, sp);

	if (at == s->at ? at != NOWHERE && sp <= s->sp : at != NOWHERE && (s->entered >> at & 1))
		return fail(s, UNWIND_STUCK);
	if (at != NOWHERE)
		s->entered |= 1u << at;
	s->at = at;
	s->sp = sp;
	return true;
}

/* ---- one step by a rule, as arch/x86/kernel/unwind_orc.c of the kernel defines it ---- */

static bool from_register(struct state *s, unsigned reg, uint64_t *value)
{
	*value = s->gpr[reg];
	return s->known >> reg & 1 ? true : fail(s, UNWIND_NO_REG);
}

/* Compute the caller's stack pointer before the call, or the address of the interrupted registers. */
static bool previous_sp(struct state *s, const struct orc_rule *rule, uint64_t *sp)
{
	uint64_t offset = (uint64_t)(int64_t)rule->sp_offset;

	switch (rule->sp_base) {
	case ORC_BASE_SP:
		*sp = s->sp + offset;
		return true;
	case ORC_BASE_BP:
		*sp = s->bp + offset;
		return true;
	case ORC_BASE_SP_INDIRECT:
		if (!read_words(s, s->sp, sp, 1))
			return false;
		*sp += offset;
		return true;
	case ORC_BASE_BP_INDIRECT:
		return read_words(s, s->bp + offset, sp, 1);
	case ORC_BASE_R10:
		return from_register(s, 10, sp);
	case ORC_BASE_R13:
		return from_register(s, 13, sp);
	case ORC_BASE_DI:
		return from_register(s, X86_RDI, sp);
	case ORC_BASE_DX:
		return from_register(s, X86_RDX, sp);
	default:
		return fail(s, UNWIND_NO_RULE);
	}
}

static bool previous_bp(struct state *s, const struct orc_rule *rule, uint64_t sp, uint64_t *bp)
{
	uint64_t offset = (uint64_t)(int64_t)rule->bp_offset;

	switch (rule->bp_base) {
	case ORC_BASE_NONE: /* RBP is unchanged; for ORC_REGS, apply_rule() then uses RBP of the interrupted registers */
		*bp = s->bp;
		return true;
	case ORC_BASE_PREV_SP:
		return read_words(s, sp + offset, bp, 1);
	case ORC_BASE_BP:
		return read_words(s, s->bp + offset, bp, 1);
	default:
		return fail(s, UNWIND_NO_RULE);
	}
}

/* Continue at the frame that the CPU pushed on an interrupt or exception. If that is a user-mode frame, unwinding ends. */
static bool take_iret(struct state *s, const uint64_t iret[IRET_WORDS])
{
	s->pc = iret[IRET_RIP];
	s->user = (iret[IRET_CS] & 3) == 3;
	return s->user || move_to(s, iret[IRET_RSP]);
}

static bool take_regs(struct state *s, uint64_t at)
{
	uint64_t words[PT_WORDS];

	if (!read_words(s, at, words, PT_WORDS))
		return false;
	for (unsigned i = 0; i < PT_GPRS; i++)
		s->gpr[pt_gpr[i]] = words[i];
	s->known = ALL_KNOWN;
	s->bp = s->gpr[X86_RBP];
	return take_iret(s, words + PT_IRET);
}

static bool apply_rule(struct state *s, const struct orc_rule *rule)
{
	uint64_t sp, bp, iret[IRET_WORDS];
	bool taken;

	if (!previous_sp(s, rule, &sp) || !previous_bp(s, rule, sp, &bp))
		return false;
	s->interrupted = rule->interrupted;
	switch (rule->type) {
	case ORC_CALL:
		taken = read_words(s, sp - sizeof(sp), &s->pc, 1) && move_to(s, sp);
		s->known = 0;
		break;
	case ORC_REGS:
		taken = take_regs(s, sp);
		if (rule->bp_base == ORC_BASE_NONE)
			bp = s->bp;
		break;
	/*
	 * In the first instructions of an interrupt's entry code, the registers that the CPU did not push still have the
	 * interrupted values.
	 */
	case ORC_REGS_PARTIAL:
		taken = read_words(s, sp, iret, IRET_WORDS) && take_iret(s, iret);
		break;
	default:
		return fail(s, UNWIND_NO_RULE);
	}
	s->bp = bp;
	return taken;
}

/* Apply a rule completely or not at all: on failure only s->why changes. */
static bool try_rule(struct state *s, const struct orc_rule *rule)
{
	struct state next = *s;

	if (!apply_rule(&next, rule))
		return fail(s, next.why);
	*s = next;
	return true;
}

/* ---- guessing ---- */

static bool guessed(struct state *s, enum unwind_end trouble)
{
	if (!s->out->guessed)
		s->out->trouble = trouble;
	s->out->guessed = true;
	s->reliable = false;
	return true;
}

static bool returns_to(const struct state *s, uint64_t pc)
{
	return s->source->returns_to(s->source->ctx, pc);
}

/* Guess the caller by the frame pointer. Code generated at run time has no rules, but usually keeps a frame pointer. */
static bool try_frame_pointer(struct state *s)
{
	static const struct orc_rule rule = {
		.type = ORC_CALL,
		.sp_base = ORC_BASE_BP,
		.sp_offset = 16,
		.bp_base = ORC_BASE_PREV_SP,
		.bp_offset = -16,
	};
	struct state next = *s;

	if (!apply_rule(&next, &rule) || !returns_to(s, next.pc))
		return false;
	*s = next;
	return guessed(s, UNWIND_NO_RULE);
}

/* Guess the caller: use the next word up this stack that looks like a return address. */
static bool search_stack(struct state *s)
{
	const struct unwind_stack *stack;
	enum unwind_end trouble = s->why;
	uint64_t word;

	if (s->at == NOWHERE)
		return false;
	stack = &s->stacks[s->at];
	for (uint64_t at = (s->sp + 7) & ~7ull; holds(stack, at, sizeof(word)); at += sizeof(word)) {
		memcpy(&word, stack->bytes + (at - stack->gva), sizeof(word));
		if (!returns_to(s, word))
			continue;
		s->pc = word;
		s->sp = at + sizeof(word);
		s->interrupted = false;
		s->known = 0;
		return guessed(s, trouble);
	}
	return false;
}

/* ---- all steps ---- */

/* Step to the caller's frame. Returns false and sets s->why if no caller is found. */
static bool step_to_caller(struct state *s)
{
	struct orc_rule rule;
	/*
	 * Look up the call, not the return address: if the call is the function's last instruction, the return address is in
	 * another function.
	 */
	uint64_t pc = s->interrupted ? s->pc : s->pc - 1;

	if (s->source->rule(s->source->ctx, pc, &rule)) {
		s->why = UNWIND_NO_RULE;
		return try_frame_pointer(s) || search_stack(s);
	}
	/*
	 * The first frame of a stack, which ORC_END marks, is never interrupted. But some kernels mark retpolines as ORC_END,
	 * too, and a retpoline can be interrupted.
	 */
	if (rule.type == ORC_END && !s->interrupted)
		return fail(s, UNWIND_FIRST);
	return try_rule(s, &rule) || search_stack(s);
}

static void add_frame(struct state *s)
{
	struct unwind *out = s->out;
	enum unwind_kind kind = s->interrupted ? UNWIND_INTERRUPTED : UNWIND_CALL;

	out->frames[out->count] = (struct unwind_frame){
		.pc = s->pc, .sp = s->sp, .kind = out->count ? kind : UNWIND_STOPPED, .reliable = s->reliable};
	out->count++;
}

void unwind(const struct x86_regs *regs, const struct unwind_stack *stacks, unsigned n, const struct unwind_source *source,
	    struct unwind *out)
{
	struct state s = {
		.stacks = stacks,
		.n = n,
		.source = source,
		.out = out,
		.pc = regs->rip,
		.sp = regs->gpr[X86_RSP],
		.bp = regs->gpr[X86_RBP],
		.interrupted = true,
		.user = x86_user_mode(regs),
		.reliable = true,
		.at = NOWHERE,
		.known = ALL_KNOWN,
	};

	memcpy(s.gpr, regs->gpr, sizeof(s.gpr));
	out->count = 0;
	out->guessed = false;
	for (unsigned i = 0; i < n; i++)
		out->used_from[i] = i ? stacks[i].len : 0;
	move_to(&s, s.sp);
	do {
		add_frame(&s);
	} while (!s.user && out->count < UNWIND_FRAMES_MAX && step_to_caller(&s) && !s.user);
	if (s.user)
		s.why = UNWIND_USER;
	else if (out->count == UNWIND_FRAMES_MAX)
		s.why = UNWIND_TOO_DEEP;
	out->end = s.why;
}
