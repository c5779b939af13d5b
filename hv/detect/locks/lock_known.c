// SPDX-License-Identifier: GPL-2.0-or-later
/* The lock functions of the guest's kernel, by address. */
#include "hv/detect/locks/lock_known.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64u

void lock_known_fini(struct lock_known *k)
{
	free(k->list);
	*k = (struct lock_known){0};
}

/* Returns the number of entries with a smaller address: the index of the entry for `addr`, or where to insert one. */
static size_t place_of(const struct lock_known *k, uint64_t addr)
{
	size_t low = 0, high = k->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->list[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int lock_known_add(struct lock_known *k, const struct known_lock_function *f)
{
	size_t at = place_of(k, f->addr);

	if (at < k->count && k->list[at].addr == f->addr)
		return 0;
	if (k->count == k->room) {
		size_t room = k->room ? 2 * k->room : FIRST_ROOM;
		struct known_lock_function *list = realloc(k->list, room * sizeof(*list));

		if (!list)
			return -1;
		k->list = list;
		k->room = room;
	}
	memmove(&k->list[at + 1], &k->list[at], (k->count - at) * sizeof(*k->list));
	k->list[at] = *f;
	k->count++;
	return 0;
}

const struct known_lock_function *lock_known_at(const struct lock_known *k, uint64_t addr)
{
	size_t at = place_of(k, addr);

	return at < k->count && k->list[at].addr == addr ? &k->list[at] : NULL;
}

void lock_known_forget(struct lock_known *k, uint64_t base, uint64_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < k->count; i++) {
		if (k->list[i].addr - base >= size)
			k->list[kept++] = k->list[i];
	}
	k->count = kept;
}
