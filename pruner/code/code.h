/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decoded instructions of one side of a race, and the control flow between them. The kept code is the part of the
 * function's code that the report has: at most RACE_CODE_MAX bytes.
 */
#ifndef OUTRIDER_PRUNER_CODE_CODE_H
#define OUTRIDER_PRUNER_CODE_CODE_H

#include "hv/race/observation.h"
#include "symbols/insn/op.h"

/* A successor that is not in the kept code. */
#define CODE_OUTSIDE (-1)

struct code {
	unsigned count;
	/* The index of the racing instruction. -1: the report does not name it, or the kept code does not contain it. */
	int access;
	/* The kept code begins at the function's start. The end of the function may be missing. */
	bool whole;
	/*
	 * `whole` is set, and no kept instruction has a successor in the part of the function that was not kept. So no path
	 * goes through that part, and all predecessors of a kept instruction are known. Two kinds of instructions may also run
	 * without a predecessor in the function: its entry, and landing pads of exception handlers, to which no instruction
	 * branches.
	 */
	bool closed;
	struct code_insn {
		struct insn_op op;
		/* The name of the function that the instruction calls or jumps to, or NULL. The side owns the string. */
		const char *callee;
		/* An instruction of the code has this instruction as a successor. */
		bool has_predecessor;
		/*
		 * The instruction calls a function that prints its arguments for people (LIST_SHOW). The caller of code_load()
		 * sets this.
		 */
		bool shows;
	} insns[RACE_CODE_MAX];
	/* For each offset into the bytes: the index of the instruction that begins there. -1: no instruction begins there. */
	int16_t index[RACE_CODE_MAX];
	uint64_t base; /* GVA of the first byte. */
};

/*
 * Decode the code of `side`, which must outlive `code`. The code in an old report may begin inside an instruction. Decoding
 * then begins at the first offset from which it reaches the racing instruction. The code ends at the first byte that cannot be
 * decoded.
 */
void code_load(struct code *code, struct insn_decoder *decoder, const struct race_side *side);

/* Conditions of a conditional jump: the low four bits of its opcode (SDM vol. 2, Jcc). */
enum { CODE_IF_ZERO = 4, CODE_IF_NOT_ZERO = 5, CODE_IF_UNKNOWN = -1 };

/* Returns the condition of a conditional jump, or CODE_IF_UNKNOWN for jrcxz and loop. */
int code_condition(const struct insn_op *op);

/*
 * Set next[] to the successors of instruction `i`. Each is an index, or CODE_OUTSIDE for code that was not kept. The successor
 * of a call is the instruction after it. Returns the number of successors, 0 to 2. For a conditional jump, next[0] is the
 * instruction after the jump and next[1] is its target.
 */
unsigned code_successors(const struct code *code, unsigned i, int next[2]);

#endif
