/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Critical sections that follow each other in one activation of a function. Each call that takes or releases a lock has a hook,
 * so no section of the subject is missed. The tracker counts pairs of sections of one lock (hv/race/section_pair.h), and which
 * sections of other contexts came in between. Where the accesses of a section are sampled is no matter here: accesses know the
 * call that took each of their locks.
 *
 * An activation begins when a context reaches the function's beginning, which must have a hook. A function that is called again
 * in the same context begins a new activation, so what a recursive function does after the inner call is missed.
 *
 * Nothing here allocates, except sections_follow(). Guarded by the detector's lock.
 */
#ifndef OUTRIDER_DETECT_LOCKS_SECTIONS_H
#define OUTRIDER_DETECT_LOCKS_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/detect/steer/lock_who.h"
#include "hv/race/section_pair.h"

/*
 * Activations are remembered in buckets, a power of two of them, each for some contexts, so that a lock operation looks through
 * one bucket. When a bucket is full, its oldest activation is forgotten.
 */
#define SECTION_BUCKETS 64u
#define SECTION_BUCKET_SIZE 4u
/* Sections that are remembered per activation. Further ones are in no pair. */
#define SECTION_STEPS_MAX 8u
/* Locks whose latest sections are remembered, a power of two: two locks may share an entry, and then one is forgotten. */
#define SECTION_LOCKS_MAX 1024u
/* Sections that are remembered per lock. */
#define SECTION_LATEST_MAX 8u

/* A function with at least two calls that take a lock or try to. */
struct section_function {
	uint64_t start, end; /* GVAs: [start, end) */
	uint64_t begin;	     /* GVA of the hook that every activation passes first */
};

/* A section, from the call that takes the lock to the call that releases it. The numbers are those of lock moments. */
struct section_step {
	uint64_t gva, taken_at;
	uint64_t taken;
	uint64_t given; /* 0: the lock is still held */
};

struct section_activation {
	struct lock_who who;
	uint64_t start;	 /* of the function; 0: the entry is free */
	uint64_t waited; /* when the context last waited for a hand-over; 0: not since the beginning */
	/* The call before which the CPU was held, and the number of the latest lock moment then. 0: none. */
	uint64_t held_at, held_from;
	struct section_step steps[SECTION_STEPS_MAX];
	unsigned count;
};

/*
 * A context that has ended its first section of a lock, and is about to take the lock for the second one. Its CPU may be held
 * there, until a section of another context has come in between.
 */
struct section_gap {
	struct lock_who who;
	uint64_t start;		/* of the function */
	uint64_t gva;		/* of the lock */
	uint64_t first, second; /* the calls that take it */
	uint64_t after;		/* the number of the lock moment in which the first section ended */
};

/* The latest sections of one lock, by all contexts. */
struct section_lock {
	uint64_t gva;
	struct {
		struct lock_who who;
		struct section_step step;
	} latest[SECTION_LATEST_MAX];
	unsigned next;
};

/* All zero: empty. */
struct sections {
	/* Sorted by `start`. */
	struct section_function *functions;
	size_t function_count, function_room;
	struct section_bucket {
		struct section_activation activations[SECTION_BUCKET_SIZE];
		unsigned oldest;
	} buckets[SECTION_BUCKETS];
	struct section_lock locks[SECTION_LOCKS_MAX];
	struct section_pair pairs[SECTION_PAIRS_MAX];
	unsigned pair_count;
};

void sections_fini(struct sections *s);

/* Follow the sections of a function. Returns 0, or -1 when memory runs out. Called on the sampler's thread. */
int sections_follow(struct sections *s, const struct section_function *function);

/* Returns whether a followed function begins at this hook. */
bool sections_begins_at(const struct sections *s, uint64_t pc);

/* A context is at the hook `pc`. If a followed function begins there, begin an activation. */
void sections_at(struct sections *s, const struct lock_who *who, uint64_t pc);

/*
 * The context takes the lock `gva` by the call at `taken_at`, in the lock moment `number`. When its activation has made a
 * section of this lock by the same call before, it is in a loop, and earlier sections of the lock are forgotten.
 */
void sections_take(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t taken_at, uint64_t number);

/* Returns whether the call at `taken_at` began the second section of a pair before: otherwise sections_gap() returns false. */
bool sections_is_second(const struct sections *s, uint64_t taken_at);

/*
 * The context is about to take the lock `gva` by the call at `taken_at`. Returns whether its CPU should be held before the
 * call, with the gap in *out: another context had a section of this lock lately, and none such was seen in between yet. The
 * more holds were in vain, the rarer they become. Returns false if the CPU was held before this call already.
 */
bool sections_gap(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t taken_at, struct section_gap *out);

/* The CPU is held in the gap. `number` is the number of the latest lock moment. */
void sections_hold(struct sections *s, const struct section_gap *gap, uint64_t number);

/* Returns whether a section that was not seen in this gap before has come since the first section ended. */
bool sections_gap_met(struct sections *s, const struct section_gap *gap);

/* The context releases the lock. */
void sections_give(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t number);

/* The context is about to wait for a hand-over, such as a completion. */
void sections_wait(struct sections *s, const struct lock_who *who, uint64_t number);

/* Lock operations may have been missed: forget activations and sections in progress, not the pairs. */
void sections_hole(struct sections *s);

/*
 * The text [base, base+size) is about to be freed: forget its functions, and all that is in progress. The pairs stay, as the
 * record of the run's accesses does.
 */
void sections_text_gone(struct sections *s, uint64_t base, uint64_t size);

#endif
