/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the critical sections in the recording of one side. Has no side effects. */
#ifndef OUTRIDER_EXPLORE_HELD_H
#define OUTRIDER_EXPLORE_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/explore/facts.h"

/* What an access does to a lock. */
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
	const struct explore_access *release; /* NULL until the lock is released */
};

struct held {
	struct held_section *section;
	size_t count;
};

/*
 * Find the critical sections of a side, whose accesses are in the order in which they were made. `act` says what an access does
 * to a lock at its address. Every other write to the address of a taken lock releases the lock. Some releases are not recorded,
 * because the scheduler makes them as another task. So a lock that is taken again counts as released before, and a lock that is
 * never released counts as not held. Returns 0, or -1 if memory ran out; held_free() may follow in either case.
 */
int held_find(struct held *s, const struct explore_access *access, uint32_t count,
	      enum held_act (*act)(void *ctx, const struct explore_access *access), void *ctx);
void held_free(struct held *s);

/* Returns whether the side holds the lock at `gva` at the instruction with the number `at`. */
bool held_at(const struct held *s, uint64_t gva, uint32_t at);

/*
 * Returns whether a side that is held after the instruction with the number `at` keeps the other side from coming to the
 * instruction with the number `before`: it holds a lock that the other side takes first.
 */
bool held_blocks(const struct held *held, uint32_t at, const struct held *other, uint32_t before);

#endif
