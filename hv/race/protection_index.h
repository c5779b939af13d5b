/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The indexes of the lock record's tables, and its recent events. Only the files of the lock record (protection*.c) use this
 * header.
 */
#ifndef OUTRIDER_RACE_PROTECTION_INDEX_H
#define OUTRIDER_RACE_PROTECTION_INDEX_H

#include "hv/base/siphash.h"
#include "hv/race/index.h"
#include "hv/race/protection.h"
#include "hv/race/protection_objects.h"

/*
 * The operations of the latest 65536 events can be looked up by the events' numbers. While a context holds a lock for more
 * events than this, no more pairs of operations are recorded for this context.
 */
#define RECENT_MOMENTS 65536u

/* The number and the operation of a recent event. All zero: no event. */
struct recent_moment {
	uint64_t number;
	uint32_t operation;
};

enum prot_table { FUNCTIONS, LOCKS, ACCESSES, PAIRS, TAKES, USES, PROT_TABLES };

struct protection_index {
	/* Key of all hashes, since names and addresses are untrusted: they come from the guest or a file. */
	struct siphash_key key;
	/* Index and capacity of each table. */
	struct race_index of[PROT_TABLES];
	uint32_t room[PROT_TABLES];
	struct prot_objects objects;
	/* Event number n is recent[n % RECENT_MOMENTS]. NULL until the first event. */
	struct recent_moment *recent;
	uint64_t slide;
	bool no_memory;
};

#endif
