/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies of the machine that are kept for the last moments before a complaint of the guest's kernel: which copies are held
 * paused, and for how long. A race that crashes the guest often does so at once, before the replay of the race is done or has
 * begun. So the machine is also copied at rendezvous that are not replayed, and these copies are held. When the kernel
 * complains, the held copies are run. A held copy costs as much memory as the pages that the guest has written since the copy
 * was made, at most the guest's memory.
 *
 * Pure functions. Any thread; the caller guards the structs.
 */
#ifndef OUTRIDER_SESSION_HELD_H
#define OUTRIDER_SESSION_HELD_H

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of held copies. A new copy may make one more, until the caller drops the copy that held_surplus() names. */
#define HELD_MAX 2u
/*
 * A copy is held for 10 s at most, in ns. A complaint of the guest's kernel is linked only to races that were seen within 10 s
 * before the complaint (hv/race/complaint_link.c), so an older copy would only cost memory.
 */
#define HELD_NS UINT64_C(10000000000)

/* When the next copy may be made. All zero: at once. */
struct held_pace {
	uint64_t next_ns;
};

/* Returns whether a copy may be made and held at the time `now`, in ns. */
bool held_due(const struct held_pace *pace, uint64_t now);

/* Record that a copy was made, and that the guest stood still for it from `begin` to `end`, in ns. */
void held_made(struct held_pace *pace, uint64_t begin, uint64_t end);

struct held_copy {
	bool held;	  /* False: an unused entry. */
	uint64_t made_ns; /* when the copy was made */
	const char *race; /* the id of its race */
};

/*
 * Returns the index of the held copy to drop next, or -1 if there is none. First come copies held for HELD_NS, then the older
 * one of two copies of one race, and then, while more than HELD_MAX copies are held, the oldest copy. `now` is in ns.
 */
int held_surplus(const struct held_copy *list, unsigned count, uint64_t now);

#endif
