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

/* Maximum number of entries of suspicions.follow[]: each is for two fates. */
#define SUSPICIONS_FOLLOW_MAX (SECTION_FATES_MAX / 2)

enum suspicion_kind {
	SUSPICION_UNPROTECTED, /* two accesses to one datum without a common lock, at least one of them under some lock */
	SUSPICION_INTERRUPT,   /* a lock that an interrupt handler takes is also taken with interrupts on */
	/* two critical sections of one function do what must be one step: another context's section can come in between */
	SUSPICION_ATOMICITY,
};

/*
 * How a section of another context that comes between two critical sections harms them. A pattern such as R-W-W gives three
 * accesses: by the first section, by the section in between, and by the second section (R: read, W: write), as in AVIO
 * (ASPLOS'06, table 1). No serial order of the three sections has the same result.
 */
enum atomicity_pattern {
	ATOMICITY_CHECK_ACT, /* R-W-W or R-W-R: the first section reads and decides, the second one does not check again */
	ATOMICITY_UPDATE,    /* R-W-W: the second section writes a value computed from what the first section read */
	ATOMICITY_READ_BACK, /* W-W-R: the second section reads what the first one wrote */
	ATOMICITY_HALF_DONE, /* W-R-W: the section in between reads a value that the second section replaces */
	ATOMICITY_PUBLISH,   /* W(a)-R(a)R(b)-W(b): the first section sets flag a, and the second sets b, which a guards */
	ATOMICITY_PATTERNS
};

/* Reasons why two critical sections with another section in between are no atomicity suspicion. */
enum atomicity_told {
	ATOMICITY_CHECKED_AGAIN, /* the second section reads the datum again and decides by it */
	ATOMICITY_VERSION,	 /* the second section checks another datum, which the section in between changes */
	ATOMICITY_EXCHANGE,	 /* the second section's access is LOCKed, as a cmpxchg */
	ATOMICITY_COUNTER,	 /* each section reads the datum anew and updates it */
	ATOMICITY_REPLACED,	 /* the section that reads the datum stores it later itself */
	ATOMICITY_SNAPSHOT,	 /* both sections only read, and the first decides nothing */
	ATOMICITY_BATCH,	 /* one instruction accesses the datum in both sections: a loop releases the lock in between */
	ATOMICITY_STATE,	 /* the section in between decides by the datum, so its code expects the unfinished state */
	ATOMICITY_CLAIMED,	 /* the first section sets another datum, by which the section in between decides */
	ATOMICITY_OUTER,	 /* another lock is held around both sections, and also during the section in between */
	/* the sections are in two functions, and nothing says that the second section depends on what the first found */
	ATOMICITY_OWN_STEPS,
	ATOMICITY_OBJECTS, /* the sections are in a loop over several objects, so they may access different objects */
	/* in the cases that were followed, the second section seldom or never changed the datum that the first one had checked
	 */
	ATOMICITY_ELSEWHERE,
	/* in the cases that were followed, the second section came or did not come, whatever the checked datum was */
	ATOMICITY_EITHER,
	/* in the cases that were followed, others never changed the bits that the first section had checked */
	ATOMICITY_UNCHANGED,
	/* a section was seen in between only once, and in the cases that were followed, the checked datum never changed */
	ATOMICITY_ONCE,
	ATOMICITY_ORDERED, /* the function waits for a hand-over between the sections */
	ATOMICITY_NEVER,   /* the other function's section was never seen between the two sections, in the run or in a copy */
	ATOMICITY_APART,   /* the two functions were not seen at the same time */
	ATOMICITY_TOLD
};

/* Reasons why a pair of accesses is not suspected. Pairs are counted per reason. */
enum protect_left_out {
	PROTECT_UNPUBLISHED, /* the object was not yet published: only its creator had accessed it */
	PROTECT_PER_CPU,
	PROTECT_MARKED, /* both accesses are LOCKed or marked (READ_ONCE()), or the datum is listed as needing no lock */
	PROTECT_RCU,	/* the reader is in an RCU read-side critical section, and the writer holds a lock */
	/* one context made all accesses; or the operations were never seen at the same time, and cannot interrupt each other */
	PROTECT_APART,
	PROTECT_MAYBE, /* it is unknown whether the lock was held */
	/*
	 * ownership was handed over: all accesses of one side came before all of the other side, or the tasks accessed the
	 * datum one after another, or locks ordered the accesses each time that the run tried to confirm the suspicion
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
	 * interrupts on, then the taking by the interrupt handler. ATOMICITY: indices into accesses[], of the first and the
	 * second section.
	 */
	uint32_t side[2];
	/*
	 * ATOMICITY: `between` is the index into accesses[] of the access in the section in between, and `pattern` says what
	 * the three accesses do. Both are 0 for the other kinds.
	 */
	uint32_t between;
	enum atomicity_pattern pattern;
	/*
	 * An index into locks[]. UNPROTECTED: the lock that the first side holds; the second side does not hold it, or writes
	 * although it holds the lock only as a reader. INTERRUPT: the lock of both takings. ATOMICITY: the lock of all three
	 * sections, or the lock of the first section if `second_lock` differs.
	 */
	uint32_t lock;
	/*
	 * An index into locks[]. ATOMICITY: the lock of the second section. If it is not `lock`, the section in between is
	 * under both locks. 0 for the other kinds.
	 */
	uint32_t second_lock;
	/*
	 * ATOMICITY: if the two sections are in two functions, 1 + the index into functions[] of the function that made both of
	 * them, by itself or in functions that it called. 0: the sections are in one function, or this function is unknown.
	 */
	uint32_t caller;
	/*
	 * ATOMICITY: GVAs of the calls that take the locks of the two sections. 0 for the other kinds, and in a suspicion that
	 * was read from a report.
	 */
	uint64_t calls[2];
	/* ATOMICITY: the bits that the first section checks were seen to have changed before the second section. */
	bool moved;
	/*
	 * UNPROTECTED: the datum was accessed `total` times since publication, from all sites, and the lock was held in `held`
	 * of these accesses. INTERRUPT: contexts that the interrupt can interrupt took the lock `total` times, and the
	 * interrupt was off in `held` of these cases. ATOMICITY: the second section followed the first one `total` times, and
	 * in `held` of these cases the other section came in between. For these counts, a member of a struct is the same datum
	 * in all objects of the struct, and a lock that is a member is the same lock.
	 */
	uint64_t held, total;
	/* ATOMICITY: in how many of the `held` cases the run held the CPU between the two sections. 0 otherwise. */
	uint64_t by_hold;
	/* ATOMICITY: 1 + the index into section_replays[] of these three sections. 0: they were not run in copies. */
	uint32_t replay;
	enum section_verdict verdict; /* of section_replays[replay - 1] */
	/*
	 * The two operations (ATOMICITY: the function with two sections, and the function whose section is in between) were
	 * seen at the same time: on two CPUs, or on one CPU, where an interrupt came during the first operation and began the
	 * second.
	 */
	bool concurrent;
	/* The suspicion's severity and certainty as one number, for sorting. The highest rank comes first. */
	int rank;
	/* One printable line of plain English, without the id. */
	char text[768];
	enum confirm_state confirm;
	/* Number of times that a CPU reached each side while it was a target site. */
	uint64_t reached[2];
};

/* Maximum number of suspected pairs of sites per record. */
#define SUSPICIONS_MAX 8192u

/* A read in a first section, and a write in a section in between: the data whose fates are followed (section_fate.h). */
struct suspicion_follow {
	uint64_t pc, between_pc;	 /* GVAs of the two instructions */
	uint64_t first, second, between; /* GVAs of the calls that take the three sections' locks */
	struct lock_test test;		 /* how the code after the read branches by it */
	bool suspected;			 /* it belongs to a suspicion */
};

struct suspicions {
	struct suspicion *list; /* sorted by rank, highest first */
	size_t count;
	/* Number of pairs of accesses that are not suspected, per reason. */
	uint64_t left_out[PROTECT_LEFT_OUT];
	/* Number of pairs of accesses dropped because there were already SUSPICIONS_MAX suspicions. */
	uint64_t lost;
	/*
	 * `told`: number of pairs of sections on a datum that are no atomicity suspicion, per reason. `told_text`: a sentence
	 * about the first such pair, per reason.
	 */
	uint64_t told[ATOMICITY_TOLD];
	char told_text[ATOMICITY_TOLD][256];
	/*
	 * The data whose fates are worth following: of the atomicity suspicions, and of pairs of sections that would be
	 * suspicions if another section had been seen in between, or more than once (ATOMICITY_NEVER, ATOMICITY_ONCE). Not
	 * stored in reports.
	 */
	struct suspicion_follow follow[SUSPICIONS_FOLLOW_MAX];
	size_t follow_count;
};

/*
 * Returns true if the held lock protects the access: the lock is certainly held and, if the access is a write, not only as a
 * reader.
 */
bool suspicion_covers(const struct prot_held *held, const struct prot_access *access);

/* Returns whether the sides of the suspicion are accesses. Otherwise they are takings of a lock. */
bool suspicion_of_accesses(const struct suspicion *s);

/* Returns how many of the suspicions are of kind SUSPICION_ATOMICITY. */
size_t suspicions_of_atomicity(const struct suspicions *s);

/* Free the list. `s` may be all zero. */
void suspicions_fini(struct suspicions *s);

/* Returns the first suspicion with this id, or NULL. Its two accesses would be race `id` if they were seen to race. */
const struct suspicion *suspicions_find(const struct suspicions *s, const char *id);

#endif
