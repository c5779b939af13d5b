/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instructions around a side's access, of the code that was kept. */
#ifndef OUTRIDER_REPORT_AROUND_H
#define OUTRIDER_REPORT_AROUND_H

#include "hv/race/observation.h"
#include "symbols/insn/insn.h"

#define AROUND_BEFORE 8 /* instructions before the access, at most */
#define AROUND_AFTER 5	/* instructions behind the access, at most */
#define AROUND_MAX (AROUND_BEFORE + 1 + AROUND_AFTER)

struct around {
	/* How many instructions there are. 0: no instruction was kept that begins where the access is. */
	unsigned count;
	/* Index of the access, or of the instruction before which the vCPU stopped when the access could not be told. */
	unsigned access;
	/* Offset of each instruction in the side's code, in bytes. */
	uint16_t at[AROUND_MAX];
};

/*
 * Find the instructions around the access of `side`. The code that an old run kept may begin within an instruction; then the
 * instructions are taken to begin at the first offset from which they meet the access.
 */
void around_access(struct insn_decoder *decoder, const struct race_side *side, struct around *out);

#endif
