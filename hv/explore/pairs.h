/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds and ranks the candidates in two recordings. Has no side effects. */
#ifndef OUTRIDER_EXPLORE_PAIRS_H
#define OUTRIDER_EXPLORE_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "hv/explore/facts.h"

/* The kind of the function that an instruction is in. */
enum pairs_code {
	/* Kinds of functions that are no locks come before PAIRS_LOCK, and kinds of lock functions from there on. */
	PAIRS_CODE,	  /* an ordinary function */
	PAIRS_MODULE,	  /* a function of a module: fewer programs run such functions, so its candidates rank higher */
	PAIRS_SERVES_ALL, /* a function that serves the whole kernel: its candidates rank lower */
	PAIRS_LOCK, /* implements a lock, or is entry code: its accesses are no candidates, but delimit critical sections */
	PAIRS_LOCK_SHARED, /* as PAIRS_LOCK, and the function's name says that it takes the lock for a reader */
	PAIRS_OWNS,	   /* as PAIRS_LOCK, but the function takes its lock by a plain store: lock_sock_nested() */
	PAIRS_UNLOCK,	   /* as PAIRS_LOCK, and the function's name says that it releases a lock */
};

struct pairs_input {
	/* The accesses of each side in the order in which they were made. */
	const struct explore_access *access[2];
	uint32_t count[2];
	/* The accesses of the baseline program, which only forks, waits and exits (record.h). */
	const struct explore_access *baseline;
	uint32_t baseline_count;
	/* Called for each instruction once per use. */
	enum pairs_code (*code)(void *ctx, uint64_t pc);
	/* Returns whether the byte at the GVA is in memory that was in use at the mark, so that no program has allocated it. */
	bool (*lasting)(void *ctx, uint64_t gva);
	/*
	 * Returns whether each side has allocated this memory for itself, so that a lock there is not the other side's. NULL:
	 * none counts.
	 */
	bool (*allocated)(void *ctx, uint64_t gva);
	void *ctx;
};

/*
 * Find the pairs of accesses, one of each side, that overlap in memory, at least one of them a write, and whose order may
 * matter. The pairs of the same two instructions are one candidate, whose accesses are those that side 0 made first. The
 * candidates are sorted by rank, the highest first. A candidate ranks higher if fewer reasons for a lower rank apply
 * (explore_reasons()). Among equals, a candidate with less baseline ranks higher, then a candidate with a module ranks higher,
 * then a candidate whose two instructions were executed less often, then the candidate whose access side 0 made first. Sets
 * neither the symbols nor the memory of the candidates. Returns the candidates, which the caller frees, with their number in
 * *count; or NULL with *count 0 if there are none, or (size_t)-1 in *count if memory ran out.
 */
struct explore_candidate *pairs_find(const struct pairs_input *in, size_t *count);

#endif
