/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Following locks (config.locks): each call of a lock function in the subject, which is what the pool's filter lets pass, is an
 * event point, so that no call is missed on any CPU and nothing is ever lifted. From these calls it is known what each context
 * holds (lock_sets.h), and each hit of a sample point becomes a moment with the locks that are held (lock_ring.h). A window is
 * not needed for that, so that code with interrupts off counts in full. Eraser (SOSP'97), DILP (SANER'19, III-C).
 *
 * A lock counts as held from the call that takes it to the call that gives it back: nothing of the subject runs in between the
 * call and the moment at which it is really taken.
 */
#ifndef OUTRIDER_DETECT_LOCKS_H
#define OUTRIDER_DETECT_LOCKS_H

#include "hv/base/x86.h"
#include "hv/detect/access.h"
#include "hv/detect/lock_load.h"
#include "hv/detect/lock_ring.h"
#include "symbols/tables/symtab.h"

struct detect;
struct locks;
struct point;

/* NULL: memory ran out. */
struct locks *locks_new(struct detect *d);

/* NULL is allowed. */
void locks_free(struct locks *l);

/*
 * Learn where the lock functions of text that has come are. A kernel has some of the list only. On the sampler's thread,
 * without d->lock.
 */
void locks_learn(struct locks *l, const struct symtab *symbols);

/*
 * The names of functions and variables of the user's list that no text has had that came so far: at most `max` into `names`,
 * which are the list's. Returns how many there are. On the sampler's thread, without d->lock.
 */
size_t locks_unknown(struct locks *l, const char *names[], size_t max);

/* The lock function to which a direct call or jump leads. NULL: none. On the sampler's thread, without d->lock. */
const struct lock_function *locks_called(struct locks *l, const struct insn *insn);

/*
 * The lock function that this code has inlined at its beginning. `function` is the GVA of the function that it is in: a lock
 * function's own code is no other one's. NULL: none. On the sampler's thread, without d->lock.
 */
const struct lock_function *locks_inlined(struct locks *l, uint64_t function, const uint8_t *code, size_t len);

/*
 * The instruction at `addr` does what this function does, and an event point will stand there. Returns 0, or -1 when memory
 * runs out: then it is not looked at. On the sampler's thread, without d->lock.
 */
int locks_expect_inlined(struct locks *l, uint64_t addr, const struct lock_function *function);

/*
 * The instruction at `addr` is executed when the call of this function before it has returned, and an event point stands there.
 * Returns 0, or -1 when memory runs out: then the result is not looked at. On the sampler's thread, without d->lock.
 */
int locks_expect_result(struct locks *l, uint64_t addr, const struct lock_function *function);

/*
 * All calls in text that has come have their points. `complete`: no lock can be taken there unseen; else what is held is not
 * known from now on. Before `sure_from_ns` (CLOCK_MONOTONIC) it is not known in any case, because CPUs were in the text before.
 * On the sampler's thread, without d->lock.
 */
void locks_planted(struct locks *l, bool complete, uint64_t sure_from_ns);

/*
 * From now on, until locks_planted(), the calls that take or give back a lock are not followed, so what is held is not known.
 * On the sampler's thread, without d->lock.
 */
void locks_rest(struct locks *l);

/* What following costs the guest. It is guarded by d->lock. */
struct lock_load *locks_load(struct locks *l);

/* The text goes, or has gone. Under d->lock. */
void locks_text_gone(struct locks *l, uint64_t base, uint64_t size);

/* How many locks were held that had been taken by text that went, since the last call. On the sampler's thread, without
 * d->lock.
 */
unsigned locks_dropped(struct locks *l);

/*
 * A CPU is about to execute the instruction of this event point: a call of a lock function, or what follows one and can tell
 * its result, or both. In a callback, under d->lock.
 */
void locks_call(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct point *point);

/* A CPU is about to make these accesses, which are of `insn`, at a sample point. In a callback, under d->lock. */
void locks_access(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct insn *insn, const struct datum *data,
		  unsigned n);

/*
 * What the context, which is the one that the CPU is in or is held in, holds. False: not all of that is known, and the set is
 * empty. In a callback, under d->lock.
 */
bool locks_held(struct locks *l, unsigned cpu, const struct guest_context *context, struct lockset *out);

/* Whether the function is one of the subject's. Any thread. */
bool locks_of_subject(const struct locks *l, const struct guest_symbol *function);

/* The moments, for the follower. Under d->lock. */
struct lock_ring *locks_ring(struct locks *l);

#endif
