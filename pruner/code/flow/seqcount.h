/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections of sequence counts, as machine code shows them (Documentation/locking/seqlock.rst in Linux).
 *
 * A reader loads a count, continues only if the count is even, reads its data, loads the count again, and retries in another
 * iteration of its loop if the two counts differ. A writer adds 1 to the count before its stores and 1 after them. With a
 * latch, bit 0 of the count tells the reader which of two copies to read, and the writer adds 1 before it changes a copy.
 *
 * On x86 neither side needs a barrier: the CPU keeps loads in order, and stores in order (SDM vol. 3, 9.2.2).
 */
#ifndef OUTRIDER_PRUNER_CODE_FLOW_SEQCOUNT_H
#define OUTRIDER_PRUNER_CODE_FLOW_SEQCOUNT_H

#include "pruner/code/flow/gva.h"

/* The section that an access is in. */
struct seqcount_section {
	/* GVA of the count. */
	uint64_t count;
	/*
	 * Indices of instructions. For a reader: the loads of the count at the begin and at the retry. For a writer: the
	 * additions before and after its store.
	 */
	unsigned begin, end;
	/* The reader chooses a copy by bit 0 of the count. */
	bool latch;
	/* For a latch: bit 0 of the count, as loaded by the reader, or as left by the writer's addition before its store. */
	bool odd;
	/* Before the reader compares the counts, it stores data through a pointer that its caller passed. */
	bool stores_to_caller;
	/* The access is to the count itself. */
	bool of_count;
	/*
	 * The reader does not wait for an even count. It clears bit 0, so that an odd count differs at the retry
	 * (raw_seqcount_begin()).
	 */
	bool clears_odd;
};

/*
 * Find the section to which the load `a` belongs: `a` loads data in the section, or it is the load of the count that begins or
 * ends the section. Returns true and sets *out when the reader uses the data only after it found the count unchanged. Returns
 * false when
 *
 * - a path leaves the function without a comparison of the counts,
 * - the branch on a changed count does not lead back to the load, or
 * - before the comparison the data become an address, reach another function or memory other than the stack, or decide
 *   whether the code follows a pointer that is loaded in the same iteration.
 *
 * The search sees kept code only. The caller must check code.closed.
 */
bool seqcount_of_reader(const struct flow_access *a, struct seqcount_section *out);

/*
 * Find the section to which the store `a` belongs: `a` stores data in the section, or it is the addition to the count that
 * begins or ends the section. The count is at the GVA `count`. Returns true and sets *out if every path through the function
 * adds 1 to the count an even number of times, and a store of data comes after an odd number of additions. With a latch, it may
 * also come after two additions, or a greater even number. Returns false if there is no such section.
 */
bool seqcount_of_writer(const struct flow_access *a, uint64_t count, bool latch, struct seqcount_section *out);

/*
 * As seqcount_of_writer() without a latch, but for an unknown count: tries each word of 4 bytes to which the writer's code
 * stores.
 */
bool seqcount_of_any(const struct flow_access *a, struct seqcount_section *out);

#endif
