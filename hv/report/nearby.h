/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instructions near a side's access, from the recorded code. Private to hv/report and its exports. */
#ifndef OUTRIDER_REPORT_NEARBY_H
#define OUTRIDER_REPORT_NEARBY_H

#include "hv/race/observation.h"
#include "symbols/insn/insn.h"

#define NEARBY_BEFORE 8 /* maximum number of instructions before the access */
#define NEARBY_AFTER 5	/* maximum number of instructions after the access */
#define NEARBY_MAX (NEARBY_BEFORE + 1 + NEARBY_AFTER)

struct nearby {
	/* Number of instructions. 0: the recorded code has no instruction that begins at the access. */
	unsigned count;
	/* Index of the accessing instruction or, if that is unknown, of the instruction before which the vCPU stopped. */
	unsigned access;
	/* Offset of each instruction in the side's code, in bytes. */
	uint16_t at[NEARBY_MAX];
};

/*
 * Find the instructions near the access of `side`. In a report of an older version, the code may begin inside an instruction.
 * So the search tries start offsets until decoding arrives at the access.
 */
void nearby_find(struct insn_decoder *decoder, const struct race_side *side, struct nearby *out);

#endif
