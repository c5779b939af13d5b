/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instructions kept around one side of a race, and where each may go on. */
#ifndef OUTRIDER_PRUNER_CODE_H
#define OUTRIDER_PRUNER_CODE_H

#include "hv/race/observation.h"
#include "symbols/insn/op.h"

#define CODE_OUTSIDE (-1)

struct code {
	unsigned count;
	int access;  /* index of the racing instruction; -1: not known or not among them */
	bool whole;  /* the function's start is there */
	bool closed; /* and all of it that kept code leads to: no way comes in that is not known, but at the start
		      and where an exception may land, which nothing here goes on to */
	struct code_insn {
		struct insn_op op;
		const char *callee; /* the side's: what it calls or jumps to by name, or NULL */
		bool entered;	    /* some instruction here goes on to this one */
		bool shows;	    /* a call of what shows its arguments to people; for who knows the lists to set */
	} insns[RACE_CODE_MAX];
	int16_t index[RACE_CODE_MAX]; /* by offset into the bytes; -1: no instruction starts there */
	uint64_t base;
};

/*
 * Decode the code of `side`, whose strings and registers must last. Bytes kept by an old run may start within an instruction:
 * then decoding starts where it meets the access. What cannot be decoded ends the code.
 */
void code_load(struct code *code, struct insn_decoder *decoder, const struct race_side *side);

/* Where instruction `i` may go on: indices, or CODE_OUTSIDE. Of a call: behind it. Returns how many, 0 to 2. */
unsigned code_next(const struct code *code, unsigned i, int next[2]);

#endif
