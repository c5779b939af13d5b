/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of locks: the memory by which lock functions exclude each other. Other code may read such a word, for example to
 * see whether another CPU waits for the lock (spin_is_contended()), and the store that releases a lock is plain on x86.
 */
#ifndef OUTRIDER_PRUNER_PATTERNS_LOCK_WORD_H
#define OUTRIDER_PRUNER_PATTERNS_LOCK_WORD_H

#include "pruner/patterns/view.h"

#define LOCK_WORD_WHY_MAX 256

struct lock_word {
	/*
	 * The word's GVA and its size in bytes. If the memory is mapped at two addresses, `gva` is the address that is used by
	 * the side whose code shows the lock.
	 */
	uint64_t gva;
	uint32_t size;
	/* What shows that the memory is the word of a lock: "gt_f passes its address to mutex_lock()". */
	char why[LOCK_WORD_WHY_MAX];
};

/*
 * Returns whether the access is in a function, inlined or not, of LIST_LOCK_INSIDE: words of locks are the only memory that
 * such a function shares with other CPUs.
 */
bool lock_word_inside(const struct view *v, const struct view_side *s);

/*
 * Returns whether the access of side `which` is to the word of a lock, as far as this side's own code shows: the side is inside
 * a lock function, or its function passes the address to a lock function. Sets *out if so.
 */
bool lock_word_of(const struct view *v, unsigned which, struct lock_word *out);

/*
 * Returns whether the access of the side does what code may do to the word of a lock: it is inside a lock function, it is
 * LOCKed, it only reads, or it is a store that releases the lock. All bytes of the access must be in the word. A plain store of
 * another value, such as that of spin_lock_init(), is none of these.
 */
bool lock_word_allows(const struct view *v, const struct view_side *s, const struct lock_word *word);

#endif
