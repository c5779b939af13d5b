// SPDX-License-Identifier: GPL-2.0-or-later
/* The lock functions of the guest's kernel, by address. */
#include "hv/detect/locks/lock_known.h"

#include <stdlib.h>

#include "hv/base/grow.h"

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
	struct known_lock_function *to;

	if (at < k->count && k->list[at].addr == f->addr)
		return 0;
	to = list_insert(&k->list, &k->count, at, sizeof(*to), NULL);
	if (!to)
		return -1;
	*to = *f;
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
