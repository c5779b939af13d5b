/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a record of locks, entry by entry: for what makes the record of moments (protection_moments.c), and for what
 * reads one back. An entry is found by all that is kept of it but counts, times and names, and is added at the end if it is not
 * there. So an index stays valid as long as the record.
 *
 * Each function returns the entry's index. PROTECTION_NONE: the table is full, which is counted in `lost`, or memory ran out.
 *
 * No locks: one thread at a time.
 */
#ifndef OUTRIDER_RACE_PROTECTION_TABLE_H
#define OUTRIDER_RACE_PROTECTION_TABLE_H

#include <stdbool.h>

#include "hv/race/protection.h"

/* The function with that name, by site_function(). */
uint32_t protection_function(struct protection *p, const char *name);

/*
 * The lock of that kind at `gva`. `memory`, whose strings are printable, says what is there: NULL or of kind UNKNOWN if that is
 * not known. It is kept where it tells more than what is known. An address is one lock for the whole run, whatever is said of
 * its memory: what the guest's tables say can change between two looks, and a lock that becomes two would accuse those who hold
 * it.
 */
uint32_t protection_lock(struct protection *p, uint64_t gva, uint8_t kind, const struct guest_memory *memory);

/* The access that is the same as `access` in all but memory, base, name, counts, times and who. A new one is copied as it is.
 */
uint32_t protection_access(struct protection *p, const struct prot_access *access);

/* The pair of operations, in either order. A new one has a count of 0. */
uint32_t protection_pair(struct protection *p, uint32_t a, uint32_t b);

/* The taking of a lock that is the same as `take` in all but pc, base and count. A new one is copied as it is. */
uint32_t protection_take_entry(struct protection *p, const struct prot_take *take);

/* Whether memory ran out in any of these functions. */
bool protection_no_memory(const struct protection *p);

/* The index of the pair, without adding it. PROTECTION_NONE: there is none. */
uint32_t protection_find_pair(const struct protection *p, uint32_t a, uint32_t b);

#endif
