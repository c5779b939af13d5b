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
	const struct explore_access *release; /* NULL: never released; `to` is then 0, which is no instruction of the section */
};

/*
 * The critical sections of a side. `open` and `by_lock` make the time of the searches below grow only with the logarithm of the
 * number of sections.
 */
struct held {
	struct held_section *section; /* in ascending order of `from` */
	uint32_t count;
	struct held_open *open; /* which sections were open when every 256th section began */
	uint32_t *by_lock;	/* indices of sections, sorted by lock, then those that are not shared first, then by `from` */
};

/*
 * Find the critical sections of a side, whose accesses are in the order in which they were made. act() returns what a write
 * does to a lock at its address. If act() returns HELD_NOTHING, and the lock at that address is taken, the write releases the
 * lock. Some releases are not recorded, because the scheduler makes them in another task. So a section without a recorded
 * release counts as not held. If a side takes a lock that is still taken, the earlier section is such a section. Therefore, if
 * a side takes a lock twice as a reader, only the section from the second take to the first release counts. Returns 0, or -1 if
 * memory ran out; held_free() may follow in either case.
 */
int held_find(struct held *h, const struct explore_access *access, uint32_t count,
	      enum held_act (*act)(void *ctx, const struct explore_access *access), void *ctx);
void held_free(struct held *h);

/*
 * Find the locks that `own` holds at its instruction number `at` and `other` holds at its instruction number `other_at`, so
 * that the two sides cannot be at these instructions at the same time. A lock that both hold as readers does not count. Returns
 * the section of `own` under such a lock, the one that ends last if there are several, or NULL if there is none.
 */
const struct held_section *held_common(const struct held *own, uint32_t at, const struct held *other, uint32_t other_at);

/*
 * If side `own` is held after its instruction number `at`, it keeps the locks that it then holds. Find those of these locks
 * that side `other` takes before its instruction number `before`: `other` waits for such a lock, and cannot come to that
 * instruction. Returns the section of `own` under such a lock, the one that ends last if there are several, or NULL if there is
 * none. Unless `readers` is set, locks that `other` takes as a reader do not count.
 */
const struct held_section *held_waited_for(const struct held *own, uint32_t at, const struct held *other, uint32_t before,
					   bool readers);

#endif
