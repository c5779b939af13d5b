/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a lock record. protection_moments.c and the reader of reports add entries through these functions. Each
 * function finds an entry by all fields of the entry, except the fields that the function's comment names. Entries are only
 * appended, so an index stays valid as long as the record.
 *
 * Each function that finds or adds an entry returns the entry's index, or PROTECTION_NONE if memory runs out or the table is
 * full. Entries that a full table could not take are counted in `lost`.
 *
 * No locks: one thread at a time.
 */
#ifndef OUTRIDER_RACE_PROTECTION_TABLE_H
#define OUTRIDER_RACE_PROTECTION_TABLE_H

#include <stdbool.h>

#include "hv/race/protection.h"

/* Find or add the function with that name, as site_function() writes names. */
uint32_t protection_function(struct protection *p, const char *name);

/*
 * Find or add the lock of kind `kind` at `gva`. `memory` describes the memory at `gva`, with printable strings, and replaces a
 * less informative description. `memory` is NULL or of kind UNKNOWN if nothing is known about the memory. One address with one
 * kind is one lock for the whole run, even if the description changes: the guest's data structures can change between two
 * reads. If one lock were recorded as two, its holders would seem to have no lock in common.
 */
uint32_t protection_lock(struct protection *p, uint64_t gva, uint8_t kind, const struct guest_memory *memory);

/*
 * Find or add an access. `memory`, `base`, `name`, `rcu_unknown`, counts, times, tasks and CPUs do not identify an entry. A new
 * entry is copied from `access`.
 */
uint32_t protection_access(struct protection *p, const struct prot_access *access);

/* Find or add the pair of operations, in either order. A new pair has the count 0. */
uint32_t protection_pair(struct protection *p, uint32_t a, uint32_t b);

/* Find or add a taking of a lock. `pc`, `base` and the count do not identify an entry. A new entry is copied from `take`. */
uint32_t protection_take_entry(struct protection *p, const struct prot_take *take);

/* Find or add a use. The count does not identify an entry. A new entry is copied from `use`. */
uint32_t protection_use(struct protection *p, const struct prot_use *use);

/* Returns true if memory ran out in any of these functions. */
bool protection_no_memory(const struct protection *p);

/* Find the pair without adding it. Returns its index, or PROTECTION_NONE. */
uint32_t protection_find_pair(const struct protection *p, uint32_t a, uint32_t b);

#endif
