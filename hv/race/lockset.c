// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/race/lockset.h"

/* A lock is its address: of a seqlock's spinlock and its count, which may be named apart, either keeps the other's holder out.
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
