/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instructions kept around one side of a race, and where each may go on. */
#ifndef OUTRIDER_PRUNER_CODE_H
#define OUTRIDER_PRUNER_CODE_H

#include "hv/race/observation.h"
#include "symbols/insn/op.h"

#define CODE_OUTSIDE (-1)

struct code {
	unsigned count;
	/* The index of the racing instruction. -1: it is not known, or it is not among the instructions. */
	int access;
	/* The code begins where the function begins. */
	bool whole;
	/*
	 * The code is whole, and everything that it may go on to inside its function is among the instructions. Then every way
	 * into an instruction is known, but for the function's start and for landing places of exceptions, to which no
	 * instruction here goes on.
	 */
	bool closed;
	struct code_insn {
		struct insn_op op;
		const char *callee; /* The name of what the instruction calls or jumps to, or NULL. The side owns it. */
		bool entered;	    /* Some instruction in the code goes on to this one. */
		bool shows;	    /* It calls what shows its arguments to people. The caller of code_load() sets this. */
	} insns[RACE_CODE_MAX];
	/* The index of the instruction that begins at each offset into the bytes. -1: no instruction begins there. */
	int16_t index[RACE_CODE_MAX];
	uint64_t base; /* The GVA of the first byte. */
};

/*
 * Decode the code of `side`, which must outlive `code`. The bytes that an old run kept may begin within an instruction.
 * Decoding then begins at the first offset from which it meets the access. Bytes that cannot be decoded end the code.
 */
void code_load(struct code *code, struct insn_decoder *decoder, const struct race_side *side);

/* The conditions that a conditional jump may have, as its opcode's low four bits (SDM vol. 2, Jcc). */
enum { CODE_IF_ZERO = 4, CODE_IF_NOT_ZERO = 5, CODE_IF_UNKNOWN = -1 };

/* Returns the condition of a conditional jump. */
int code_condition(const struct insn_op *op);

/*
 * Set next[] to where instruction `i` may go on: each is an index, or CODE_OUTSIDE. A call goes on behind itself. Returns how
 * many there are, from 0 to 2.
 */
unsigned code_next(const struct code *code, unsigned i, int next[2]);

#endif
