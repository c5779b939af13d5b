/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table from GVAs to lock functions: where a lock function starts, or where a hook belongs to a lock function. Guarded by
 * the detector's lock. Adding allocates, so it is done on the sampler's thread; a lookup does not allocate.
 */
#ifndef OUTRIDER_DETECT_LOCKS_LOCK_KNOWN_H
#define OUTRIDER_DETECT_LOCKS_LOCK_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/guest/lock_functions.h"

struct known_lock_function {
	uint64_t addr;
	const struct lock_function *function;
	/*
	 * This kernel has no function that releases the lock that `function` takes: the release is inlined, so the detector
	 * does not see it.
	 */
	bool given_unseen;
	/*
	 * For LOCK_NEW: the offset, in the allocated object, of the pointer to another object that was allocated with it. 0:
	 * there is none, or the guest's kernel does not say where.
	 */
	uint32_t also_at;
	/* Of an entry in `known` of struct locks: the function is not code of the subject's module. */
	bool outside;
	/* locks_next_entry() has returned it. */
	bool entered;
};

/* Sorted by address. A table of all zeros is empty. */
struct lock_known {
	struct known_lock_function *list;
	size_t count;
};

void lock_known_fini(struct lock_known *k);

/* Add a function. Returns 0, or -1 when memory runs out. An entry with the same address is not replaced. */
int lock_known_add(struct lock_known *k, const struct known_lock_function *f);

/* Returns the entry with this address, or NULL. */
const struct known_lock_function *lock_known_at(const struct lock_known *k, uint64_t addr);

/* Remove all entries in [base, base+size). */
void lock_known_forget(struct lock_known *k, uint64_t base, uint64_t size);

#endif
