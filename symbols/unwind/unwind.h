/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinds the call stack of a stopped CPU from its registers, a copy of its stacks and ORC rules, as described in
 * Documentation/arch/x86/orc-unwinder.rst. Unwinding crosses the struct pt_regs of exceptions and interrupts, and continues
 * from an interrupt's stack on the interrupted stack, if the caller copied that stack too.
 *
 * Without a rule, the unwinder tries the frame pointer. If that does not lead to a plausible caller, the unwinder searches the
 * stack for a return address. Both are guesses: the guessed frame and all frames after it are marked unreliable.
 *
 * Stacks and rules belong to the guest and are not trusted. Unwinding terminates with any input: the stack pointer only moves
 * up, each stack is entered once, and the number of frames is bounded. Nothing here allocates or takes a lock.
 */
#ifndef OUTRIDER_SYMBOLS_UNWIND_UNWIND_H
#define OUTRIDER_SYMBOLS_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/x86.h"
#include "symbols/unwind/orc.h"

#define UNWIND_FRAMES_MAX 128 /* bounds unwinding of a hostile stack */
#define UNWIND_STACKS_MAX 4   /* maximum number of stacks per unwind() */

/* A copy of part of a stack. */
struct unwind_stack {
	uint64_t gva;	      /* GVA of bytes[0] */
	const uint8_t *bytes; /* owned by the caller */
	uint32_t len;	      /* bytes */
};

enum unwind_kind {
	UNWIND_STOPPED,	    /* pc is the instruction at which the CPU stopped */
	UNWIND_CALL,	    /* pc is a return address. The call instruction lies before it, so symbolise pc - 1. */
	UNWIND_INTERRUPTED, /* pc is the instruction at which an exception or interrupt came, before it ran */
};

struct unwind_frame {
	uint64_t pc; /* GVA */
	uint64_t sp; /* RSP in this frame; for a caller, RSP after the callee's return (the callee's CFA) */
	enum unwind_kind kind;
	bool reliable; /* false if this frame or a frame before it is a guess */
};

/* Why a call stack has no more frames, or why the unwinder had to guess a frame. */
enum unwind_end {
	UNWIND_USER,	  /* reached user-mode registers: the stack is complete */
	UNWIND_FIRST,	  /* reached a frame that ORC marks as the first of a stack: the stack is complete */
	UNWIND_NO_RULE,	  /* no usable rule for a PC */
	UNWIND_NO_MEMORY, /* a needed word is on none of the copied stacks */
	UNWIND_NO_REG,	  /* the value of a needed register is no longer known */
	UNWIND_STUCK,	  /* the stack pointer would move down, or enter a stack again */
	UNWIND_TOO_DEEP,  /* UNWIND_FRAMES_MAX frames found */
};

/* The call stack, innermost frame first. */
struct unwind {
	struct unwind_frame frames[UNWIND_FRAMES_MAX];
	unsigned count;		 /* number of frames, at least 1 */
	enum unwind_end end;	 /* why there are no more frames */
	bool guessed;		 /* at least one frame is a guess */
	enum unwind_end trouble; /* reason of the first guess; only valid if `guessed` is set */
	/*
	 * For each given stack: the offset in bytes of the lowest word that unwinding used. The bytes below that offset were
	 * not needed. Always 0 for the first stack. For another stack that was not used: the stack's length.
	 */
	uint32_t used_from[UNWIND_STACKS_MAX];
};

/* Callbacks that describe the guest's text. */
struct unwind_source {
	/* Find the rule for the instruction at `pc`, in any text. Returns 0, or -1 if there is no rule. */
	int (*rule)(void *ctx, uint64_t pc, struct orc_rule *out);
	/* Returns true if `pc` is in kernel text after a possible call. Called only to guess a frame. */
	bool (*returns_to)(void *ctx, uint64_t pc);
	void *ctx;
};

/*
 * Unwind from `regs`. The `n` stacks, at most UNWIND_STACKS_MAX, must not overlap. The first stack contains RSP; unwinding may
 * continue on any of the stacks.
 */
void unwind(const struct x86_regs *regs, const struct unwind_stack *stacks, unsigned n, const struct unwind_source *source,
	    struct unwind *out);

#endif
