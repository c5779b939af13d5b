/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about accesses and locks that several parts of protect_judge() need. Only these parts use this header. */
#ifndef OUTRIDER_PRUNER_LOCKS_PROTECT_FACTS_H
#define OUTRIDER_PRUNER_LOCKS_PROTECT_FACTS_H

#include "hv/race/protection.h"
#include "hv/race/suspicion.h"

/* Returns the name of a function without its module, or "an unknown function" for PROTECTION_NONE. */
const char *protect_function(const struct protection *p, uint32_t function);

/* Returns the entry of the lock in the access's lockset, or NULL. */
const struct prot_held *protect_held(const struct prot_access *a, uint32_t lock);

/* Returns whether the lock is a member of the object that the datum is in. */
bool protect_inside(const struct protection *p, const struct prot_access *a, uint32_t lock);

/*
 * Compares two accesses by what they access, as qsort(3) needs: returns -1, 0 or 1. In this order, accesses to one datum are
 * neighbours, and so are accesses to the same member of all objects of one kind.
 */
int protect_order(const struct prot_access *a, const struct prot_access *b);

/* Returns whether both accesses are to the same aligned word of 8 bytes, and the word's object was not freed in between. */
bool protect_same_datum(const struct prot_access *a, const struct prot_access *b);

/*
 * Returns whether both accesses are to the same 8 aligned bytes of an object, by offset. The accesses may be to two objects of
 * one type.
 */
bool protect_same_member(const struct prot_access *a, const struct prot_access *b);

/* Returns whether two accesses to the same member have a byte in common. */
bool protect_overlap(const struct prot_access *a, const struct prot_access *b);

/* Returns whether `a` and `b` are the same lock, or the same member of two objects of one kind. */
bool protect_same_lock(const struct protection *p, uint32_t a, uint32_t b);

#endif
