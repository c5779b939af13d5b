/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which lock protects what, and where it is missing: suspicions, found in the record of accesses and the locks held at them
 * (hv/race/protection.h). A suspicion is no race: nobody saw both accesses in conflict. The method is DILP's (SANER'19, III-C),
 * with what it leaves out added: objects that are not published yet, RCU, per-CPU data, marked accesses.
 *
 * A pure function: the same record gives the same list in the same order.
 */
#ifndef OUTRIDER_PRUNER_PROTECT_H
#define OUTRIDER_PRUNER_PROTECT_H

#include <stddef.h>

#include "hv/base/err.h"
#include "hv/race/protection.h"
#include "hv/race/site.h"

enum suspicion_kind {
	SUSPICION_UNPROTECTED, /* two accesses to one datum with no lock in common, of which one is under a lock */
	SUSPICION_INTERRUPT,   /* a lock that an interrupt handler takes is taken with interrupts on */
};

/* Why a pair of accesses is not suspected. Each is counted. */
enum protect_left_out {
	PROTECT_UNPUBLISHED, /* only its creator had touched the object */
	PROTECT_PER_CPU,
	PROTECT_MARKED, /* marked by READ_ONCE() and its like, which the sources say */
	PROTECT_RCU,	/* the reader is in an RCU section */
	PROTECT_APART,	/* the two operations were never seen at the same time */
	PROTECT_MAYBE,	/* it is not known whether the lock was held */
	PROTECT_LEFT_OUT
};

struct suspicion {
	enum suspicion_kind kind;
	/* race_id() of the two sites: when the race is seen, it has this id. */
	char id[RACE_ID_MAX];
	/* UNPROTECTED: indices in accesses[], the protected side first. INTERRUPT: indices in takes[], the interrupt's last. */
	uint32_t side[2];
	/* The lock that the first side holds and the second does not: an index in locks[]. */
	uint32_t lock;
	/* In so many of all accesses to the datum, by whatever site, this lock was held. */
	uint64_t held, total;
	/* The two were seen at the same time, and are not only in contexts that can interrupt each other. */
	bool met;
	/* How bad and how sure, for the order of the list. */
	int rank;
	/* One line in plain English, printable, without the id. */
	char text[512];
};

struct suspicions {
	struct suspicion *list; /* the worst first */
	size_t count;
	/* How many pairs were left out, by reason. */
	uint64_t left_out[PROTECT_LEFT_OUT];
};

struct prune_rules;

/*
 * `rules` may be NULL: then nothing is known of marked accesses and of data that is worse to break. *out must be given to
 * suspicions_fini() whatever is returned. 0, or -1 with EXIT_INTERNAL in err when memory runs out.
 */
int protect_judge(const struct protection *p, const struct prune_rules *rules, struct suspicions *out, struct err *err);

void suspicions_fini(struct suspicions *s);

#endif
