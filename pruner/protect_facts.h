/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of protect_judge() ask of the record. Only they use this header. Pure functions. */
#ifndef OUTRIDER_PRUNER_PROTECT_FACTS_H
#define OUTRIDER_PRUNER_PROTECT_FACTS_H

#include "hv/race/protection.h"
#include "hv/race/suspicion.h"

/* A function as people call it: without its module. "an unknown function" for PROTECTION_NONE. */
const char *protect_function(const struct protection *p, uint32_t function);

/* What an access holds of a lock, or NULL. */
const struct prot_held *protect_held(const struct prot_access *a, uint32_t lock);

/* Whether the lock is in the object that the datum is in. */
bool protect_inside(const struct protection *p, const struct prot_access *a, uint32_t lock);

/*
 * Orders accesses by what they access. Accesses to one datum stand together, and around them those to the same member of other
 * objects of the same kind.
 */
int protect_order(const struct prot_access *a, const struct prot_access *b);

/* Whether both access the same aligned word of memory in the same life of its object. */
bool protect_same_datum(const struct prot_access *a, const struct prot_access *b);

/* Whether both access the same word of an object of the same kind, be it the same object or not. */
bool protect_same_member(const struct prot_access *a, const struct prot_access *b);

/* Whether the accesses, which are to the same member, have a byte of it in common. */
bool protect_overlap(const struct prot_access *a, const struct prot_access *b);

/* Whether both are the same lock, or the same member of two objects of the same kind. */
bool protect_same_lock(const struct protection *p, uint32_t a, uint32_t b);

#endif
