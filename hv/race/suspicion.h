/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A suspicion: two accesses that no common lock orders, or a lock on which an interrupt handler can deadlock. The accesses were
 * not observed in conflict, so a suspicion is no race. Plain data: pruner/locks/protect.h derives it, and the report stores it
 * beside the record of accesses and locks (protection.h), into whose tables it has indices.
 */
#ifndef OUTRIDER_RACE_SUSPICION_H
#define OUTRIDER_RACE_SUSPICION_H

#include <stddef.h>

#include "hv/race/protection.h"
#include "hv/race/site.h"

enum suspicion_kind {
	SUSPICION_UNPROTECTED, /* two accesses to one datum without a common lock, at least one of them under some lock */
	SUSPICION_INTERRUPT,   /* a lock that an interrupt handler takes is also taken with interrupts on */
};

/* Reasons why a pair of accesses is not suspected. Pairs are counted per reason. */
enum protect_left_out {
	PROTECT_UNPUBLISHED, /* the object was not yet published: only its creator had accessed it */
	PROTECT_PER_CPU,
	PROTECT_MARKED, /* both are LOCKed or marked by READ_ONCE() or the like, or the datum is listed as needing no lock */
	PROTECT_RCU,	/* the reader is in an RCU read-side critical section, and the writer holds a lock */
	/* one context made all accesses; or the operations were never seen at the same time, and cannot interrupt each other */
	PROTECT_APART,
	PROTECT_MAYBE, /* it is unknown whether the lock was held */
	/*
	 * ownership was handed over: all accesses of one side came before all of the second side, the tasks accessed the datum
	 * one after another, or locks ordered the accesses each time that the pair was to be confirmed
	 */
	PROTECT_HANDED,
	PROTECT_ORDERED, /* a hand-over that is no lock, such as a completion, ordered the accesses each time */
	PROTECT_LEFT_OUT
};

/* Result of the attempt to confirm a suspicion, with both sites as target sites. */
enum confirm_state {
	CONFIRM_NONE,	  /* not tried: the sites cannot be held, or there were too many suspicions */
	CONFIRM_OPEN,	  /* the run ended before a result */
	CONFIRM_SEEN,	  /* the race was seen */
	CONFIRM_GIVEN_UP, /* both sites were reached often enough, and the race was not seen */
};

struct suspicion {
	enum suspicion_kind kind;
	/* race_id() of the two sites: the id that the race has once it is observed. */
	char id[RACE_ID_MAX];
	/*
	 * UNPROTECTED: indices into accesses[], the protected side first. INTERRUPT: indices into takes[]: the taking with
	 * interrupts on, then the taking by the interrupt handler.
	 */
	uint32_t side[2];
	/*
	 * The lock that the first side holds, and the second side does not hold, or holds only as a reader and yet writes: an
	 * index into locks[]. INTERRUPT: the lock of both takings.
	 */
	uint32_t lock;
	/*
	 * The lock was held in `held` of the `total` accesses to the datum since publication, from all sites. INTERRUPT: of
	 * `total` takings in contexts that the interrupt can interrupt, it was off in `held`. For these counts,
	 * a member of a struct is the same datum in all objects of the struct, and a lock that is a member is the same lock.
	 */
	uint64_t held, total;
	/*
	 * The two operations were seen at the same time: on two CPUs, or on one CPU, where an interrupt came during the first
	 * operation and began the second.
	 */
	bool concurrent;
	/* Severity and certainty, for sorting. Higher comes first. */
	int rank;
	/* One printable line of plain English, without the id. */
	char text[512];
	enum confirm_state confirm;
	/* Number of times that a CPU reached each side while it was a target site. */
	uint64_t reached[2];
};

/* Maximum number of suspected pairs of sites per record. */
#define SUSPICIONS_MAX 8192u

struct suspicions {
	struct suspicion *list; /* sorted by rank, highest first */
	size_t count;
	/* Number of pairs of accesses left out, per reason. */
	uint64_t left_out[PROTECT_LEFT_OUT];
	/* Number of pairs of accesses dropped because there were already SUSPICIONS_MAX suspicions. */
	uint64_t lost;
};

/*
 * Returns true if the held lock protects the access: the lock is certainly held and, if the access is a write, not only as a
 * reader.
 */
bool suspicion_covers(const struct prot_held *held, const struct prot_access *access);

/* Free the list. `s` may be all zero. */
void suspicions_fini(struct suspicions *s);

/* Returns the first suspicion with this id, or NULL. Its two accesses would be race `id` if they were seen to race. */
const struct suspicion *suspicions_find(const struct suspicions *s, const char *id);

#endif
