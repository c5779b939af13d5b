/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two critical sections that one activation of a function made, by itself or in functions that it called, the second after the
 * first, under one lock or under two locks. A section is named by the call that took the lock. Plain data: hv/detect fills it
 * in, and hv/race/protection.h keeps it.
 */
#ifndef OUTRIDER_RACE_SECTION_PAIR_H
#define OUTRIDER_RACE_SECTION_PAIR_H

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of pairs that a run records. */
#define SECTION_PAIRS_MAX 1024u
/*
 * Maximum number of different sections of other contexts that are recorded per pair. A further section is not
 * recorded, so it does not make the pair a suspicion.
 */
#define SECTION_BETWEEN_MAX 8u

/*
 * Sections of other contexts that lay wholly between the two sections of a pair: under the pair's lock, or under the second
 * section's lock while the context also held the first section's lock.
 */
struct section_between {
	/* GVA of the call that took the lock. */
	uint64_t taken_at;
	/*
	 * `count`: in how many cases such a section was in between. `by_hold`: in how many of these cases it came while the
	 * detector held the CPU between the two sections.
	 */
	uint64_t count, by_hold;
};

struct section_pair {
	/* GVAs of the two different calls that took the locks. If `caller` is 0, both calls are in one function. */
	uint64_t first, second;
	/*
	 * If the calls are in different functions: GVA of the start of the function whose activation made both sections. This
	 * function called the two functions that make the calls, or it makes one of the calls itself and called the function
	 * that makes the other. 0: one function makes both calls.
	 */
	uint64_t caller;
	/*
	 * The caller's name: an index into functions[] of the record (protection.h). PROTECTION_NONE: unknown. Not set by the
	 * detector. Only valid if `caller` is not 0.
	 */
	uint32_t caller_name;
	/*
	 * The second section may depend on what the first one found: the caller itself made the first section, or the caller
	 * decides by the result of the function that made the first section. Only valid if `caller` is not 0.
	 */
	bool caller_decides;
	/*
	 * The sections are of two locks. Such a pair is recorded only after another context was seen to hold both locks at
	 * once.
	 */
	bool two_locks;
	/* How often the second section followed the first in one activation of the function, on the same lock or locks. */
	uint64_t count;
	/* In how many of the `count` cases the context waited for a hand-over between the sections, as for a completion. */
	uint64_t waited;
	/* In how many of the `count` cases the call `first` had made several sections of this lock in a row, as in a loop. */
	uint64_t in_row;
	/* How often the CPU was held before the second section, so that another context's section could come in between. */
	uint64_t holds;
	/* An entry with the count 0 is free. */
	struct section_between between[SECTION_BETWEEN_MAX];
};

#endif
