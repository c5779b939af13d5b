/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call stack of a CPU that was stopped, from its registers, a copy of its stacks and ORC rules. The method is that of
 * Documentation/arch/x86/orc-unwinder.rst. Unwinding goes across the struct pt_regs of exceptions and interrupts, and from an
 * interrupt's stack to the stack that was interrupted, provided that this stack was copied too.
 *
 * Where there is no rule, the frame pointer is tried. Where that leads nowhere, the stack is searched for what looks like a
 * return address. Both are guesses, and every frame found from there on is marked as unreliable.
 *
 * Stacks and rules belong to the guest and are not trusted. Whatever they say, unwinding ends: the stack pointer only ever
 * moves up, each stack is entered once, and the number of frames is bounded. Nothing here allocates or locks.
 */
#ifndef OUTRIDER_SYMBOLS_UNWIND_UNWIND_H
#define OUTRIDER_SYMBOLS_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/x86.h"
#include "symbols/unwind/orc.h"

#define UNWIND_FRAMES_MAX 128
#define UNWIND_STACKS_MAX 4

/* A copy of a part of a stack. */
struct unwind_stack {
	uint64_t gva;	      /* of bytes[0] */
	const uint8_t *bytes; /* owned by the caller */
	uint32_t len;	      /* bytes */
};

enum unwind_kind {
	UNWIND_STOPPED,	    /* pc is where the CPU stopped */
	UNWIND_CALL,	    /* pc is where a call will return to; the call itself lies before it, so name pc - 1 */
	UNWIND_INTERRUPTED, /* pc is the instruction before which an exception or interrupt came */
};

struct unwind_frame {
	uint64_t pc; /* GVA */
	uint64_t sp; /* RSP in this frame; of a call, when it has returned, which is the callee's CFA */
	enum unwind_kind kind;
	bool reliable; /* false when this frame is a guess, or was found after a guess */
};

/* Why a call stack has no more frames, or why a frame had to be guessed. */
enum unwind_end {
	UNWIND_USER,	  /* the registers of user mode were reached, which is where the stack begins */
	UNWIND_FIRST,	  /* a frame was reached that the ORC tables call the first of a stack */
	UNWIND_NO_RULE,	  /* there is no usable rule for a PC */
	UNWIND_NO_MEMORY, /* a word is needed that is on none of the copied stacks */
	UNWIND_NO_REG,	  /* a register is needed whose value is no longer known */
	UNWIND_STUCK,	  /* the stack pointer would not move up, or would enter a stack again */
	UNWIND_TOO_DEEP,  /* UNWIND_FRAMES_MAX frames were found */
};

/* The result, the innermost frame first. */
struct unwind {
	struct unwind_frame frames[UNWIND_FRAMES_MAX];
	unsigned count;		 /* frames, at least 1 */
	enum unwind_end end;	 /* why there are no more frames */
	bool guessed;		 /* at least one frame is a guess */
	enum unwind_end trouble; /* why the first guess was needed; only valid when `guessed` is set */
	/*
	 * For each stack that was given, the offset in bytes from its start of the lowest word that was used. The bytes below
	 * it were of no use. It is always 0 for the first stack, and the stack's length for another one that was not used.
	 */
	uint32_t used_from[UNWIND_STACKS_MAX];
};

/* What the caller tells of the guest's text. */
struct unwind_source {
	/* Find the rule for the instruction at `pc`, whatever text it is in. Returns 0, or -1 when there is none. */
	int (*rule)(void *ctx, uint64_t pc, struct orc_rule *out);
	/* Whether a call in kernel text may return to `pc`. It is asked only when a frame is guessed. */
	bool (*returns_to)(void *ctx, uint64_t pc);
	void *ctx;
};

/*
 * Unwind from `regs`. The `n` stacks, at most UNWIND_STACKS_MAX, do not overlap. The first one holds regs->rsp; the others may
 * be entered from it.
 */
void unwind(const struct x86_regs *regs, const struct unwind_stack *stacks, unsigned n, const struct unwind_source *source,
	    struct unwind *out);

#endif
