/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which instructions a way may lead to, when some ways are closed. */
#ifndef OUTRIDER_PRUNER_FLOW_WAYS_H
#define OUTRIDER_PRUNER_FLOW_WAYS_H

#include "pruner/code.h"

#define WAYS_FROM_START (-1)
#define WAYS_NONE (-1)

struct ways_closed {
	int jump; /* No way leads from this conditional jump to ... */
	int to;	  /* ... this instruction. WAYS_NONE: all jumps are open. */
	int insn; /* No way leads over this instruction. WAYS_NONE: all are open. */
};

/*
 * Set reached[i] for each instruction that a way leads to. A way starts behind the instruction `from`, or with WAYS_FROM_START
 * where the function starts and where only code that was not kept leads to.
 */
void ways(const struct code *code, int from, struct ways_closed closed, bool reached[RACE_CODE_MAX]);

#endif
