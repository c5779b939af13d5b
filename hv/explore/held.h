/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the critical sections in the recording of one side. Has no side effects. */
#ifndef OUTRIDER_EXPLORE_HELD_H
#define OUTRIDER_EXPLORE_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/explore/facts.h"

/* What a write does to a lock. */
enum held_act {
	HELD_NOTHING,
	HELD_TAKES,
	HELD_TAKES_SHARED, /* as the reader of a rwlock or rw_semaphore, which lets other readers in */
};

/* A critical section: the instructions numbered [from, to] between the take and the release of the lock at `gva`. */
struct held_section {
	uint64_t gva;
	uint32_t from, to;
	bool shared;
	const struct explore_access *release; /* NULL: never released, and `to` is less than all numbers */
};

/* The critical sections of a side, with what makes the searches below take no longer than the logarithm of their number. */
struct held {
	struct held_section *section; /* in ascending order of `from` */
	uint32_t count;
	struct held_open *open; /* which sections were open when every 256th section began */
	uint32_t *by_lock;	/* indices of sections, sorted by lock, then those that are not shared first, then by `from` */
};

/*
 * Find the critical sections of a side, whose accesses are in the order in which they were made. `act` says what an access does
 * to a lock at its address. Every other write to the address of a taken lock releases the lock. Some releases are not recorded,
 * because the scheduler makes them as another task. So a lock that is taken again counts as not held before, and so does a lock
 * that is never released. If a reader takes a lock twice, its section ends at the first release. Returns 0, or -1 if memory ran
 * out; held_free() may follow in either case.
 */
int held_find(struct held *h, const struct explore_access *access, uint32_t count,
	      enum held_act (*act)(void *ctx, const struct explore_access *access), void *ctx);
void held_free(struct held *h);

/*
 * Returns the section of `own` that ends last, of those around its instruction number `at` whose lock the other side holds at
 * its instruction number `other_at`, so that not both can be there; or NULL if there is none.
 */
const struct held_section *held_common(const struct held *own, uint32_t at, const struct held *other, uint32_t other_at);

/*
 * Returns the section that ends last, of those in which a side that is held after the instruction with the number `at` keeps
 * the other side from coming to the instruction with the number `before`: it holds a lock that the other side takes first. If
 * not `readers`, takes of a reader do not count. Returns NULL if there is none.
 */
const struct held_section *held_waited_for(const struct held *own, uint32_t at, const struct held *other, uint32_t before,
					   bool readers);

#endif
