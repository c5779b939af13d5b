/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections of sequence counts, as machine code shows them (Linux, Documentation/locking/seqlock.rst). A reader loads a count,
 * goes on only when the count is even, reads its data, loads the count again, and goes back where the two differ. A writer adds
 * 1 to the count before its stores and behind them. Of a latch the reader takes the copy that the count's bit 0 names, and the
 * writer adds 1 before it changes a copy. On x86 a plain load or store needs no barrier for this: the CPU keeps the order of
 * loads, and the order of stores (SDM vol. 3, 9.2.2).
 */
#ifndef OUTRIDER_PRUNER_FLOW_SECTION_H
#define OUTRIDER_PRUNER_FLOW_SECTION_H

#include "pruner/flow/where.h"

/* A section around an access. */
struct section {
	/* GVA of the count. */
	uint64_t count;
	/* Indices of instructions. Of a reader: the load that begins, and the load that asks again. Of a writer: the additions.
	 */
	unsigned before, behind;
	/* The reader takes a copy by bit 0 of the count. */
	bool latch;
	/* Of a latch: bit 0 of the count as the reader loaded it, or as the writer left it before its store. */
	bool odd;
	/* The reader stores what it read through a pointer that its caller gave, before it asks again. */
	bool hands_out;
	/* The access is to the count itself. */
	bool of_count;
	/* The reader does not wait for an even count, but clears bit 0, so that an odd one differs when it asks. */
	bool clears_odd;
};

/*
 * Find the section of a sequence count that the load `a` is in, or that begins or ends with it. Returns false when there is
 * none: when a way leads from the load out of the function without the question whether to read again; when the answer does not
 * lead back to the load; or when, before the question, what was loaded is used as an address, decides whether the code goes
 * through a pointer that is loaded in the same round, goes to another function, or goes to memory other than the stack. When
 * only the code that was kept shows this, the caller sees it by code.closed.
 */
bool section_of_reader(const struct flow_access *a, struct section *out);

/*
 * Find the section of the count at the GVA `count` that the store `a` is in, or of which the store is one of the additions. All
 * ways through the function must add an even number of times, each time 1. Outside a latch the number of additions before the
 * store must be odd.
 */
bool section_of_writer(const struct flow_access *a, uint64_t count, bool latch, struct section *out);

#endif
