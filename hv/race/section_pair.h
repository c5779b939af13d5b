/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two critical sections that one activation of a function made under one lock, the second after the first. A section is named
 * by the call that took the lock. Plain data: hv/detect fills it in, and hv/race/protection.h keeps it.
 */
#ifndef OUTRIDER_RACE_SECTION_PAIR_H
#define OUTRIDER_RACE_SECTION_PAIR_H

#include <stdint.h>

/* Maximum number of pairs that a run records. */
#define SECTION_PAIRS_MAX 1024u
/* Maximum number of different sections of other contexts that are recorded per pair. */
#define SECTION_BETWEEN_MAX 4u

/* Sections of other contexts under the same lock that lay wholly between the two sections of a pair. */
struct section_between {
	/* GVA of the call that took the lock. */
	uint64_t taken_at;
	/* In how many cases such a section was in between, and in how many of them it came while the CPU was held there. */
	uint64_t count, by_hold;
};

struct section_pair {
	/* GVAs of the calls that took the lock. Both are in one function, and differ. */
	uint64_t first, second;
	/* How often the second section followed the first in one activation of the function, on the same lock. */
	uint64_t count;
	/* In how many of these cases the context waited for a hand-over between the sections, as for a completion. */
	uint64_t waited;
	/* How often the CPU was held before the second section, so that another context's section could come in between. */
	uint64_t holds;
	/* An entry with the count 0 is free. */
	struct section_between between[SECTION_BETWEEN_MAX];
};

#endif
