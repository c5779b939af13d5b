/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A suspicion: two accesses that the locks do not keep apart, or a lock that an interrupt handler can wait for forever. Nobody
 * saw them in conflict, so it is no race. Plain data: pruner/protect.h finds it, and the report keeps it beside the record of
 * accesses and locks (protection.h), whose indices it has.
 */
#ifndef OUTRIDER_RACE_SUSPICION_H
#define OUTRIDER_RACE_SUSPICION_H

#include <stddef.h>

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
	PROTECT_MARKED, /* both are LOCKed or marked by READ_ONCE() and its like, or the lists say that the datum needs no lock
			 */
	PROTECT_RCU,	/* the reader is in an RCU section */
	PROTECT_APART,	/* the two operations were never seen at the same time */
	PROTECT_MAYBE,	/* it is not known whether the lock was held */
	PROTECT_HANDED, /* all accesses of one side came before all of the other's: the datum was handed over */
	PROTECT_LEFT_OUT
};

/* What came of aiming at both sites. */
enum proof_state {
	PROOF_NONE,	/* it was never tried: the sites cannot be held, or there were too many suspicions */
	PROOF_OPEN,	/* the run ended before */
	PROOF_SEEN,	/* the race was seen */
	PROOF_GIVEN_UP, /* both sites were reached often enough, and it was not seen */
};

struct suspicion {
	enum suspicion_kind kind;
	/* race_id() of the two sites: when the race is seen, it has this id. */
	char id[RACE_ID_MAX];
	/* UNPROTECTED: indices in accesses[], the protected side first. INTERRUPT: indices in takes[], the interrupt's last. */
	uint32_t side[2];
	/* The lock that the first side holds and the second does not: an index in locks[]. */
	uint32_t lock;
	/*
	 * In so many of all accesses to the datum since it was published, by whatever site, this lock was held. A member of a
	 * struct is one datum in all objects here, as is a lock that is a member.
	 */
	uint64_t held, total;
	/* The two were seen at the same time, and are not only in contexts that can interrupt each other. */
	bool met;
	/* How bad and how sure, for the order of the list. */
	int rank;
	/* One line in plain English, printable, without the id. */
	char text[512];
	enum proof_state proof;
	/* How often a CPU came to each side while it was aimed at. */
	uint64_t reached[2];
};

/* Of so many pairs of sites at most a record is suspected. */
#define SUSPICIONS_MAX 8192u

struct suspicions {
	struct suspicion *list; /* the worst first */
	size_t count;
	/* How many pairs of accesses were left out, by reason. */
	uint64_t left_out[PROTECT_LEFT_OUT];
	/* How many pairs of accesses were dropped, because SUSPICIONS_MAX pairs of sites were suspected already. */
	uint64_t lost;
};

/* Whether the lock keeps others from what the access does: it is surely held, and not only shared while the datum is written.
 */
bool suspicion_covers(const struct prot_held *held, const struct prot_access *access);

/* Free the list. All zero is allowed. */
void suspicions_fini(struct suspicions *s);

/* The suspicion whose race has this id. NULL: there is none. */
const struct suspicion *suspicions_find(const struct suspicions *s, const char *id);

#endif
