/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls that led to where a CPU stopped, from its registers and a copy of its stacks, by ORC rules (the method is that of
 * Documentation/arch/x86/orc-unwinder.rst). Across struct pt_regs of exceptions and interrupts, and from an interrupt's stack
 * to the one it interrupted, if that was copied too.
 *
 * Where there is no rule a frame pointer is tried, and where that leads nowhere the stack is searched for what looks like a
 * return address. That is guessing, and every frame from there on is marked so. Stacks and rules are the guest's: whatever they
 * say, the stack pointer only ever moves up, each copy is entered once, and the frames are bounded.
 *
 * No memory is kept and no lock taken.
 */
#ifndef OUTRIDER_SYMBOLS_UNWIND_UNWIND_H
#define OUTRIDER_SYMBOLS_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/x86.h"
#include "symbols/unwind/orc.h"

#define UNWIND_FRAMES_MAX 128
#define UNWIND_STACKS_MAX 4

/* A copy of [gva, gva+len) of a stack. */
struct unwind_stack {
	uint64_t gva;
	const uint8_t *bytes;
	uint32_t len;
};

enum unwind_kind {
	UNWIND_STOPPED,	    /* pc: where the CPU stopped */
	UNWIND_CALL,	    /* pc: where a call returns to; the call itself is before it, so name pc - 1 */
	UNWIND_INTERRUPTED, /* pc: the instruction that an exception or interrupt came before */
};

struct unwind_frame {
	uint64_t pc;
	enum unwind_kind kind;
	bool reliable; /* false: guessed, or after a guess */
};

enum unwind_end {
	UNWIND_USER,	  /* at the registers of user mode: the stack's beginning */
	UNWIND_FIRST,	  /* at what the tables say is a stack's first frame */
	UNWIND_NO_RULE,	  /* no rule for a PC */
	UNWIND_NO_MEMORY, /* a word is needed that is on none of the copies */
	UNWIND_NO_REG,	  /* a register is needed whose value is not known any more */
	UNWIND_STUCK,	  /* the stack pointer would not move up */
	UNWIND_TOO_DEEP,  /* UNWIND_FRAMES_MAX */
};

struct unwind {
	struct unwind_frame frames[UNWIND_FRAMES_MAX];
	unsigned count;		 /* at least 1 */
	enum unwind_end end;	 /* why there are no more frames */
	bool guessed;		 /* some are guesses; then */
	enum unwind_end trouble; /* what the first guess was for */
	/* For each stack given, how far up it was first needed, in bytes from its start: what is below is of no use. */
	uint32_t used_from[UNWIND_STACKS_MAX];
};

struct unwind_source {
	/* The rule for the instruction at pc, whatever text it is in. 0 or -1. */
	int (*rule)(void *ctx, uint64_t pc, struct orc_rule *out);
	/* Whether a call in kernel text may return to pc. Only asked before guessing. */
	bool (*returns_to)(void *ctx, uint64_t pc);
	void *ctx;
};

/* `stacks`: at most UNWIND_STACKS_MAX, disjoint; the first is that of regs->rsp, the others may be entered from it. */
void unwind(const struct x86_regs *regs, const struct unwind_stack *stacks, unsigned n, const struct unwind_source *source,
	    struct unwind *out);

#endif
