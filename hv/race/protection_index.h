/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of a record of locks (protection*.c) share, and nobody else needs. */
#ifndef OUTRIDER_RACE_PROTECTION_INDEX_H
#define OUTRIDER_RACE_PROTECTION_INDEX_H

#include "hv/base/siphash.h"
#include "hv/race/index.h"
#include "hv/race/protection.h"
#include "hv/race/protection_objects.h"

/* How many of the latest moments are known by their number. A lock that is held for more of them makes no pairs any more. */
#define RECENT_MOMENTS 65536u

/* The operation that a moment was in. All zero: none. */
struct recent_moment {
	uint64_t number;
	uint32_t operation;
};

enum prot_table { FUNCTIONS, LOCKS, ACCESSES, PAIRS, TAKES, PROT_TABLES };

struct protection_index {
	/* For all hashes: names and addresses come from the guest or a file. */
	struct siphash_key key;
	/* Of each list of the record, and how many entries it has room for. */
	struct race_index of[PROT_TABLES];
	uint32_t room[PROT_TABLES];
	struct prot_objects objects;
	/* Moment n is at n % RECENT_MOMENTS. NULL until the first moment. */
	struct recent_moment *recent;
	uint64_t slide;
	bool no_memory;
};

#endif
