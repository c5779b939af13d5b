/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Critical sections that follow each other in one activation of a function. Each call that takes or releases a lock has a hook,
 * so no section of the subject is missed. struct sections counts pairs of sections of one lock (hv/race/section_pair.h), and
 * which sections of other contexts came in between. It needs no accesses for this: the record of an access names the call that
 * took each held lock, and so the section.
 *
 * An activation begins when a context reaches the function's beginning, which must have a hook. A function that is called again
 * in the same context begins a new activation, so what a recursive function does after the inner call is missed. A section in a
 * function that was called belongs to the activations of its callers, too, up to CALLERS_MAX of them (callers.h).
 *
 * Nothing here allocates, except sections_follow(). Guarded by the detector's lock.
 */
#ifndef OUTRIDER_DETECT_LOCKS_SECTIONS_H
#define OUTRIDER_DETECT_LOCKS_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/detect/locks/callers.h"
#include "hv/detect/steer/lock_who.h"
#include "hv/race/section_pair.h"

/*
 * Activations are remembered in a hash table. A hash of the context chooses the bucket, so a lock operation looks through one
 * bucket only. The number of buckets is a power of two. When a bucket is full, its oldest activation is forgotten.
 */
#define SECTION_BUCKETS 64u
#define SECTION_BUCKET_SIZE 8u
/*
 * Number of sections that are remembered per activation: of the function itself, and of functions that it called. Further
 * sections become no part of a pair.
 */
#define SECTION_STEPS_MAX 8u
#define SECTION_CALLED_MAX 8u
/*
 * Number of locks whose latest sections are remembered, a power of two. If the hashes of two locks are equal, the earlier lock
 * is forgotten.
 */
#define SECTION_LOCKS_MAX 1024u
/*
 * For each remembered section, number of further locks that are remembered because the context held them in this section, too.
 */
#define SECTION_WITH_MAX 2u
/* Pairs that one section may complete: with each earlier section of the activation, and of its callers' activations. */
#define SECTION_MADE_MAX ((1 + CALLERS_MAX) * (SECTION_STEPS_MAX + SECTION_CALLED_MAX))
/* Sections that are remembered per lock. */
#define SECTION_LATEST_MAX 8u

/* A function with at least two calls that take a lock, try to take one, or lead to a function that does. */
struct section_function {
	uint64_t start, end; /* GVAs: [start, end) */
	uint64_t begin;	     /* GVA of the hook that every activation passes first */
	/*
	 * Bytes from RSP at this hook to the frame's CFA (callers.h). 0: unknown; then sections in called functions are no part
	 * of a pair.
	 */
	uint32_t frame;
};

/*
 * A section, from the call that takes the lock to the call that releases it. `gva`: of the lock. `taken_at`: GVA of the call
 * that takes the lock. `taken` and `given`: the numbers of the lock moments of the two calls.
 */
struct section_step {
	uint64_t gva, taken_at;
	uint64_t taken;
	uint64_t given; /* 0: the lock is still held */
	/* GVA of the start of the function that contains the call. 0: unknown. */
	uint64_t function;
	/* Other contexts can hold the lock, too: it is a reader's, at least in the end, or it is a semaphore. */
	bool shared;
	/*
	 * The number of the lock moment in which the context came to the call that releases the lock. `given` is later if the
	 * call releases the lock at its end, because `given` is then the moment of the return. 0: the lock is still held.
	 */
	uint64_t left;
	/* The same call made the activation's previous section of this lock, too. */
	bool in_row;
	/*
	 * In the activation of a caller: the caller decides (decision.h) by the result of the call in which the section was
	 * made.
	 */
	bool decides;
};

struct section_activation {
	struct lock_who who;
	uint64_t start;	 /* GVA of the function's start; 0: the entry is free */
	uint64_t cfa;	 /* of the frame (callers.h); 0: unknown */
	uint64_t jumped; /* GVA of the function to which the activation jumped at its end; 0: none was seen */
	uint64_t waited; /* lock moment of the context's last wait for a hand-over; 0: none */
	/*
	 * If the CPU was held between two sections: the GVA of the call before which it was held, and the number of the latest
	 * lock moment at that time. 0: the CPU was not held.
	 */
	uint64_t held_at, held_from;
	struct section_step steps[SECTION_STEPS_MAX + SECTION_CALLED_MAX];
	unsigned count, called; /* `called`: how many of the `count` steps were made in called functions */
};

/* A call that takes a lock. */
struct section_call {
	uint64_t gva;	   /* of the lock */
	uint64_t taken_at; /* GVA of the call */
	uint64_t number;   /* of the lock moment */
	bool shared;	   /* other contexts can hold the lock, too: as readers, or because it is a semaphore */
};

/* The latest sections of one lock, by all contexts. */
struct section_lock {
	uint64_t gva;
	struct {
		struct lock_who who;
		struct section_step step;
		/* GVAs of other locks that the context held in a part of this section. 0: a free entry. */
		uint64_t with[SECTION_WITH_MAX];
	} latest[SECTION_LATEST_MAX];
	unsigned next;
};

/* All zero: empty. */
struct sections {
	/* Sorted by `start`. */
	struct section_function *functions;
	size_t function_count;
	struct section_bucket {
		struct section_activation activations[SECTION_BUCKET_SIZE];
		unsigned oldest;
	} buckets[SECTION_BUCKETS];
	struct section_lock locks[SECTION_LOCKS_MAX];
	struct section_pair pairs[SECTION_PAIRS_MAX];
	unsigned pair_count;
	/*
	 * The pairs that the latest sections_take() counted: the lock moments in which their first sections began. If there is
	 * no room, some are missing.
	 */
	uint64_t made[SECTION_MADE_MAX];
	unsigned made_count;
};

void sections_fini(struct sections *s);

/* Follow the sections of a function. Returns 0, or -1 when memory runs out. Called on the sampler's thread. */
int sections_follow(struct sections *s, const struct section_function *function);

/* Returns whether a followed function begins at this hook. */
bool sections_begins_at(const struct sections *s, uint64_t pc);

/* A context is at the hook `pc`, with this stack pointer. If a followed function begins there, begin an activation. */
void sections_at(struct sections *s, const struct lock_who *who, uint64_t pc, uint64_t rsp);

/*
 * A context is at the hook `pc`, a jump to the function at `target`. If a followed function contains this jump, its activation
 * ends with the jump.
 */
void sections_jump(struct sections *s, const struct lock_who *who, uint64_t pc, uint64_t target);

/*
 * The context takes a lock by this call. `chain` says which functions are in progress there: the section is a part of their
 * activations, too. If the same call took this lock in an activation before, the activation is in a loop, and forgets its
 * earlier sections of the lock. If the call is in a called function, the activation forgets only the sections in called
 * functions.
 */
void sections_take(struct sections *s, const struct lock_who *who, const struct section_call *call,
		   const struct call_chain *chain);

/* The context keeps the lock as a reader: other readers' sections may overlap the rest of its section. */
void sections_share(struct sections *s, const struct lock_who *who, uint64_t gva);

/*
 * The context, which holds the lock `outer` exclusively, takes the lock `inner`, too: sections_take() was just called for
 * `inner`. Record the other lock in the context's current section of each of the two locks, if that section is remembered.
 */
void sections_nested(struct sections *s, const struct lock_who *who, uint64_t inner, uint64_t outer);

/* Returns whether an activation of the context has a section that began in this lock moment. */
bool sections_remembers(struct sections *s, const struct lock_who *who, uint64_t taken);

/* The context calls a function that releases the lock at its end: sections_give() follows when the call has returned. */
void sections_leave(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t number);

/* The context releases the lock. */
void sections_give(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t number);

/* Record that the context is about to wait for a hand-over, such as a completion. */
void sections_wait(struct sections *s, const struct lock_who *who, uint64_t number);

/* Lock operations may have been missed: forget all activations and the latest sections of all locks, but not the pairs. */
void sections_hole(struct sections *s);

/*
 * The text [base, base+size) is about to be freed: forget its functions, all activations, and the latest sections of all locks.
 * The pairs stay, as the record of the run's accesses does.
 */
void sections_text_gone(struct sections *s, uint64_t base, uint64_t size);

/* ---- what section_holds.c needs ---- */

/* Returns the followed function that contains this GVA, or NULL. */
const struct section_function *sections_function(const struct sections *s, uint64_t pc);

/* Returns the context's activation of the function that starts at this GVA, or NULL. */
struct section_activation *sections_activation(struct sections *s, const struct lock_who *who, uint64_t start);

/*
 * Returns the context's activation of the function frame->function. Returns NULL if there is none, or if `frame` is not the
 * frame of that activation: the CFAs differ, or frame->jumped is set and no hook saw the activation jump to that function.
 */
struct section_activation *sections_of_caller(struct sections *s, const struct lock_who *who, const struct caller_frame *frame);

/*
 * Returns the place of the lock with this GVA among the remembered locks. If its `gva` is another one, no section of the lock
 * is remembered.
 */
const struct section_lock *sections_latest(const struct sections *s, uint64_t gva);

/*
 * Returns whether the lock's remembered section number `i` was made under the lock `first`: `first` is the section's own lock,
 * or the context held `first`, too. If the first section of a pair has the lock `first`, only such a section counts as coming
 * between the sections of the pair.
 */
bool sections_excludes(const struct section_lock *l, unsigned i, uint64_t first);

/* Returns the pair of the sections that begin with these calls, or NULL. */
struct section_pair *sections_pair(struct sections *s, uint64_t first, uint64_t second);

/*
 * Returns whether the lock's remembered section number `i` belongs to another context than `who`, came after the section
 * `first` of `who`, and has ended. It came after `first` if its call asked for the lock when `first` was over. A call that
 * asked for the lock of `first` earlier, but after `who`, had to wait until `first` was over, if one of the two sections keeps
 * the other one away. Then the call that released the lock shows the order. (If it had asked before `who`, it may have had the
 * lock before, and released and taken it again inside of a call such as __cond_resched_lock().)
 */
bool sections_is_between(const struct section_lock *l, unsigned i, const struct lock_who *who,
			 const struct section_step *first);

#endif
