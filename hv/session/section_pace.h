/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides for which critical sections a copy of the machine is made (hv/race/section_replay.h). A copy is for three sections:
 * `first` and `second` of one function, and `between` of another context. Each is named by the GVA of the call that takes the
 * lock. These functions take no lock: the caller serialises all calls.
 */
#ifndef OUTRIDER_SESSION_SECTION_PACE_H
#define OUTRIDER_SESSION_SECTION_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/section_replay.h"

/* A power of two. */
#define SECTION_PACE_SLOTS (4 * SECTION_REPLAYS_MAX)

struct section_pace {
	struct section_pace_slot {
		uint64_t first, second, between; /* first 0: the slot is free */
		/*
		 * `offered`: number of chances so far to make a copy. `next`: number of the chance at which to make the next
		 * copy. `copies`: number of copies made. `unknown`: number of copies without an outcome.
		 */
		uint32_t offered, next, copies, unknown;
		bool confirmed;
	} slots[SECTION_PACE_SLOTS];
	unsigned used;
};

/*
 * Returns whether a copy for these three sections is wanted. A chance is a moment at which such a copy can be made. If `begin`
 * is true, there is a chance now: it is counted, and the caller makes a copy if the result is true. If `begin` is false, there
 * is no chance yet, and the caller asks whether to hold CPUs to get one. After n copies with an outcome, n - 1 chances are
 * skipped, so that frequent sections leave copies to others. No copy is wanted after one that confirmed the suspicion, or after
 * 64 copies.
 */
bool section_pace_wants(struct section_pace *p, uint64_t first, uint64_t second, uint64_t between, bool begin);

/* Record the outcome of a copy of these three sections. */
void section_pace_told(struct section_pace *p, uint64_t first, uint64_t second, uint64_t between, enum section_outcome outcome);

#endif
