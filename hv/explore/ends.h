/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the values that shared memory has after a trial with those that it has after the serial orders. A value that neither
 * order gives shows that two operations mixed, for example a lost update.
 */
#ifndef OUTRIDER_EXPLORE_ENDS_H
#define OUTRIDER_EXPLORE_ENDS_H

#include "hv/explore/facts.h"
#include "hv/explore/kernel.h"
#include "hv/vmm/ram.h"

/* Maximum number of places. If there are more, those of the first candidates are kept. */
#define ENDS_MAX 1024

/* A place: the bytes that both accesses of a candidate have in common, at most 8. */
struct ends_place {
	uint64_t gva, gpa; /* in the base */
	unsigned size;
};

/* A list of places. The values of a place after a run are in an array with the same index. */
struct ends {
	struct ends_place place[ENDS_MAX];
	unsigned count;
	unsigned runs[2];	      /* runs of each serial order that were added */
	uint64_t serial[2][ENDS_MAX]; /* the value after each serial order */
	/*
	 * The place is not compared any more: two runs of one serial order gave different values, or three trials gave values
	 * that did not come again when the trial was run once more.
	 */
	bool unsettled[ENDS_MAX];
};

/*
 * Find the places of the candidates that have no reason for a lower rank other than a common lock, and of which the baseline
 * program executes neither instruction. The data of other candidates changes by itself: an example is the number of pages on a
 * list to which each CPU adds pages in batches. Memory that is not mapped at the mark has no place.
 */
void ends_find(struct ends *e, const struct explore_candidate *c, unsigned count, const struct kernel *kernel);

/*
 * Read the value of each place from the RAM of a copy that has run. All addresses of kernel memory are read as
 * EXPLORE_SOME_ADDRESS, because an allocation may return other objects in each run.
 */
void ends_read(const struct ends *e, const struct ram *ram, uint64_t *values);

/* Add the values after a run of serial order `order`, 0 or 1. */
void ends_add_serial(struct ends *e, unsigned order, const uint64_t *values);

/* Returns the index of the candidate's place, or -1 if it has none. */
int ends_place_of(const struct ends *e, const struct explore_candidate *c);

/*
 * Returns whether neither serial order gives this value of the place with the index `at`. To be called after ends_add_serial()
 * was called for both orders.
 */
bool ends_differ(const struct ends *e, unsigned at, uint64_t value);

#endif
