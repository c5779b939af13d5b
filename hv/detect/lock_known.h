/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lock functions by address. No lock of its own: the detector's lock guards it. Adding allocates, so it is done on the
 * sampler's thread; a look allocates nothing.
 */
#ifndef OUTRIDER_DETECT_LOCK_KNOWN_H
#define OUTRIDER_DETECT_LOCK_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/guest/lock_functions.h"

struct known_lock_function {
	uint64_t addr;
	const struct lock_function *function;
	/* This kernel has no function that gives back what this one takes: that is inlined, and nobody sees it. */
	bool given_unseen;
};

/* In the order of the addresses. All zeros is an empty table. */
struct lock_known {
	struct known_lock_function *list;
	size_t count, room;
};

void lock_known_fini(struct lock_known *k);

/* Returns 0, or -1 when memory runs out. What stands at this address already stays. */
int lock_known_add(struct lock_known *k, const struct known_lock_function *f);

/* The function at this address. NULL: none is known there. */
const struct known_lock_function *lock_known_at(const struct lock_known *k, uint64_t addr);

/* Forget what is in [base, base+size). */
void lock_known_forget(struct lock_known *k, uint64_t base, uint64_t size);

#endif
