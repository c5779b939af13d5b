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
	/* a function that implements a lock, or entry code: its accesses are no candidates, but delimit critical sections */
	PAIRS_LOCK,
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
	/*
	 * Returns the kind of the function that contains the code at `pc`. pairs_find() passes the address of the code that
	 * wants an access (explore_wants()): of the accessing instruction or, if this instruction is in a library function such
	 * as memcpy(), of the code that called the library.
	 */
	enum pairs_code (*code)(void *ctx, uint64_t pc);
	/*
	 * Returns whether the byte at the GVA is in memory that was in use at the mark, so that neither program has allocated
	 * it.
	 */
	bool (*lasting)(void *ctx, uint64_t gva);
	/*
	 * Returns whether the byte at the GVA is in memory that was free at the mark. Then each side has allocated this memory
	 * for itself, and a lock in it does not keep the other side waiting. NULL: no memory counts as allocated.
	 */
	bool (*allocated)(void *ctx, uint64_t gva);
	void *ctx;
};

/*
 * Find the pairs of accesses, one of each side, that overlap in memory, at least one of them a write, and whose order may
 * matter. All pairs of the same two instructions are one candidate, which has the accesses of the pair that side 0 came to
 * first.
 *
 * The candidates are sorted by rank, the highest first. A candidate ranks higher if fewer reasons for a lower rank apply
 * (explore_reasons()). Of candidates with equally many reasons, a candidate ranks higher by the first of these rules in which
 * the two differ:
 *  - The baseline program executes the instructions of fewer sides.
 *  - A side is in a module.
 *  - The instructions were executed less often (the product of both numbers).
 *  - Side 0 made its access earlier.
 *
 * Does not set the symbols and the memory of the candidates. Returns the candidates, which the caller frees, with their number
 * in *count; or NULL with *count 0 if there are none, or (size_t)-1 in *count if memory ran out.
 */
struct explore_candidate *pairs_find(const struct pairs_input *in, size_t *count);

#endif
