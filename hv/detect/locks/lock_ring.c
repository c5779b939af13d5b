// SPDX-License-Identifier: GPL-2.0-or-later
/* The ring of lock moments that wait for the follower's thread (lock_ring.h). */
#include "hv/detect/locks/lock_ring.h"

#include <stdlib.h>

int lock_ring_init(struct lock_ring *r)
{
	*r = (struct lock_ring){.slots = calloc(LOCK_RING_SIZE, sizeof(*r->slots)),
				.rooms = calloc(LOCK_RING_SIZE, sizeof(*r->rooms))};
	if (r->slots && r->rooms)
		return 0;
	lock_ring_fini(r);
	return -1;
}

void lock_ring_fini(struct lock_ring *r)
{
	free(r->slots);
	free(r->rooms);
	*r = (struct lock_ring){0};
}

struct raw_moment *lock_ring_put(struct lock_ring *r, enum lock_moment_kind kind)
{
	unsigned most = kind == LOCK_MOMENT_FREE ? LOCK_RING_SIZE : LOCK_RING_SIZE - LOCK_RING_KEPT, slot;

	if (r->count >= most)
		return NULL;
	slot = (r->first + r->count++) % LOCK_RING_SIZE;
	r->slots[slot] = (struct raw_moment){.kind = kind};
	race_side_use_room(&r->slots[slot].side, &r->rooms[slot]);
	return &r->slots[slot];
}

struct raw_moment *lock_ring_next(struct lock_ring *r)
{
	return r->count ? &r->slots[r->first] : NULL;
}

void lock_ring_give_back(struct lock_ring *r)
{
	r->first = (r->first + 1) % LOCK_RING_SIZE;
	r->count--;
}
