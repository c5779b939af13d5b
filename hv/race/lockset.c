// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides whether a common lock excludes two contexts from each other. */
#include "hv/race/lockset.h"

/*
 * Two held locks are the same lock if their addresses are equal, whatever their kinds: a seqlock's spinlock and its sequence
 * count may be recorded as different kinds, but a holder of the spinlock excludes a holder of the count.
 */
static bool keeps_apart(const struct held_lock *a, const struct held_lock *b)
{
	return a->gva == b->gva && !(a->shared && b->shared);
}

bool lockset_excludes(const struct lockset *a, const struct lockset *b)
{
	if (a->overflow || b->overflow)
		return true;
	for (unsigned i = 0; i < a->count; i++) {
		for (unsigned j = 0; j < b->count; j++) {
			if (keeps_apart(&a->held[i], &b->held[j]))
				return true;
		}
	}
	return false;
}
