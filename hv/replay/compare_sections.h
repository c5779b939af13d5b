/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compare the states at the ends of three orders of two functions: A then B, B then A (the serial orders), and B between two
 * critical sections of A (hv/race/section_replay.h). Dead memory, dead registers and noise are left out, as compare.h defines
 * them. The functions have no side effects.
 */
#ifndef OUTRIDER_REPLAY_COMPARE_SECTIONS_H
#define OUTRIDER_REPLAY_COMPARE_SECTIONS_H

#include "hv/race/section_replay.h"
#include "hv/replay/compare.h"

struct compare_sections {
	/*
	 * runs[i][j] is run j of the order i (enum section_order). In each run, both functions must have returned. runs[i][1]
	 * may be NULL for all i. Then a difference may be noise, so only an outcome that says that two states are equal is
	 * certain: SECTION_OUTCOME_SAME, _AS_A_FIRST or _AS_B_FIRST.
	 */
	const struct compare_run *runs[SECTION_ORDERS][2];
	/* As in struct compare. */
	const uint8_t *(*before)(void *ctx, uint64_t gpa);
	void *ctx;
	/* GPA of the lock. Differences on its page come first in the result. */
	uint64_t lock;
	/* The function of the side is not known to return a value, so the result register of the side is ignored. */
	bool result_unused[2];
};

/* Set the outcome and the differences in `out`, which is all zero. Differences in memory get no GVA and no name here. */
void compare_section_orders(const struct compare_sections *c, struct section_replay_instance *out);

#endif
