/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Following locks (config.locks). Every call of a lock function in the subject, which is the sampled code, has a lock hook.
 * Lock hooks stay planted while CPUs hit them, so no call is missed on any CPU. From these calls the detector derives which
 * locks each context holds (lock_sets.h). Each hit of a sample point in the subject becomes a lock moment with the held locks
 * (lock_ring.h), even without a window, so accesses with interrupts off are recorded like all others. If the ring is full, the
 * moment is lost. Method: Eraser (SOSP'97), DILP
 * (SANER'19, III-C).
 *
 * A lock counts as held from the call that takes it to the call that releases it. This is not exact, but it is enough: the
 * context runs no code of the subject between the call and the moment when the lock is really taken.
 */
#ifndef OUTRIDER_DETECT_LOCKS_LOCKS_H
#define OUTRIDER_DETECT_LOCKS_LOCKS_H

#include "hv/base/x86.h"
#include "hv/detect/core/access.h"
#include "hv/detect/locks/lock_load.h"
#include "hv/detect/locks/lock_ring.h"
#include "hv/detect/locks/sections.h"
#include "symbols/tables/symtab.h"

struct detect;
struct entries;
struct locks;
struct point;

/* Returns NULL when memory runs out. */
struct locks *locks_new(struct detect *d);

/* `l` may be NULL. */
void locks_free(struct locks *l);

/*
 * Learn the addresses of lock functions in newly loaded text. A kernel has only some functions of the list. Called on the
 * sampler's thread, without d->lock.
 */
void locks_learn(struct locks *l, const struct symtab *symbols);

/*
 * Store in `names` at most `max` functions and variables of the user's list that no text loaded so far has, without inlined
 * functions, which have no symbol. The list owns the names. Returns the number of all such functions and variables. Called on
 * the sampler's thread, without d->lock.
 */
size_t locks_unknown(struct locks *l, const char *names[], size_t max);

/* Returns the lock function that a direct call or jump leads to, or NULL. Called on the sampler's thread, without d->lock. */
const struct lock_function *locks_called(struct locks *l, const struct insn *insn);

/*
 * Returns the lock function that is inlined at the start of this code, or NULL. `function` is the GVA of the function that
 * contains the code. If that is itself a lock function, returns NULL. Called on the sampler's thread, without d->lock.
 */
const struct lock_function *locks_inlined(struct locks *l, uint64_t function, const uint8_t *code, size_t len);

/*
 * Remember that the instruction at `addr` is an inlined `function`; the caller plants a lock hook there. Returns 0, or -1 when
 * memory runs out: the caller must then not plant it. Called on the sampler's thread, without d->lock.
 */
int locks_expect_inlined(struct locks *l, uint64_t addr, const struct lock_function *function);

/*
 * Remember that the instruction at `addr` runs when a call of `function` has returned; the caller plants a lock hook there.
 * Returns 0, or -1 when memory runs out: the call's result is then ignored. Called on the sampler's thread, without d->lock.
 */
int locks_expect_result(struct locks *l, uint64_t addr, const struct lock_function *function);

/*
 * The call stack shows that the kernel's function at `caller` called the function at `callee`, which belongs to the subject. If
 * `caller` is on the list as a function that calls callbacks (LOCK_CALLER), remember `callee` as a callback, so that its hooks
 * are planted. Called on the thread that follows locks, without d->lock.
 */
void locks_called_back(struct locks *l, uint64_t caller, uint64_t callee);

/*
 * Returns the line of the list that showed a callback whose hooks are not planted yet, and its GVA in *addr. Returns NULL when
 * there is none. Returns each callback once. Called on the sampler's thread, without d->lock.
 */
const struct lock_function *locks_next_callback(struct locks *l, uint64_t *addr);

/*
 * Remember that a callback begins or ends at the instruction at `addr`; the caller plants a lock hook there. Returns 0, or -1
 * when memory runs out: the hand-over is then not seen. Called on the sampler's thread, without d->lock.
 */
int locks_expect_callback(struct locks *l, uint64_t addr, const struct lock_function *function, bool begins);

/*
 * Returns a function of the list that needs a hook at its entry (entry_hooks.h), and its GVA in *addr, or NULL when there is
 * none. Returns each function once. Called on the sampler's thread, without d->lock.
 */
const struct lock_function *locks_next_entry(struct locks *l, uint64_t *addr);

/*
 * Remember that the instruction at `addr` is at the entry of `function`; the caller plants a lock hook there. Returns 0, or -1
 * when there are ENTRY_HOOKS_MAX already: the caller must then not plant it. Called on the sampler's thread, without d->lock.
 */
int locks_expect_entry(struct locks *l, uint64_t addr, const struct lock_function *function);

/* Returns the hooks at entries. Guarded by d->lock. */
struct entries *locks_entries(struct locks *l);

/* All callbacks so far, and all entries for them, have their hooks: hand-overs are seen from now on. Called on the sampler's
 * thread, without d->lock. */
void locks_callbacks_followed(struct locks *l);

/*
 * Follow the critical sections of this function, whose lock hooks are planted. When memory runs out, they are not followed.
 * Called on the sampler's thread, without d->lock.
 */
void locks_follow_sections(struct locks *l, const struct section_function *function);

/* Returns the pairs of critical sections that were seen. Guarded by d->lock. */
const struct sections *locks_sections(const struct locks *l);

/*
 * All lock hooks in newly loaded text are planted. `complete`: every call that takes a lock has one; otherwise locksets are
 * unknown from now on. Before `sure_from_ns` (CLOCK_MONOTONIC, ns) locksets are unknown in any case, because CPUs may be in
 * critical sections that they entered before. Called on the sampler's thread, without d->lock.
 */
void locks_planted(struct locks *l, bool complete, uint64_t sure_from_ns);

/*
 * The lock hooks are being removed: forget all locksets, and treat them as unknown until locks_planted(). Called on the
 * sampler's thread, without d->lock.
 */
void locks_rest(struct locks *l);

/* Returns the state that decides when lock hooks cost too much (lock_load.h). Guarded by d->lock. */
struct lock_load *locks_load(struct locks *l);

/*
 * The text [base, base+size) is about to be freed, or was freed: forget its lock functions and hooks, and the locks that it
 * took. The caller holds d->lock.
 */
void locks_text_gone(struct locks *l, uint64_t base, uint64_t size);

/*
 * Returns how many locks, since the last call, were still held when the text that took them was freed. Called on the sampler's
 * thread, without d->lock.
 */
unsigned locks_dropped(struct locks *l);

/*
 * A CPU hit a lock hook: update the locksets, and queue lock moments. The CPU is about to call a lock function, or to run the
 * instruction after such a call, when the call's result is in RAX, or both. Called in a callback, under d->lock.
 */
void locks_call(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct point *point);

/*
 * A CPU hit a lock hook, and locks_call() was not called yet. Returns whether the CPU should be held before the call, with the
 * gap between two critical sections that the CPU is in (sections_gap()). Called in a callback, under d->lock.
 */
bool locks_gap(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
	       const struct point *point, struct section_gap *out);

/* The CPU is held in the gap, before the call. Called in a callback, under d->lock. */
void locks_hold(struct locks *l, unsigned cpu, const struct section_gap *gap);

/*
 * Returns whether another context's section has come in the gap in which the CPU is held (sections_gap_met()). Called in a
 * callback, under d->lock.
 */
bool locks_gap_met(struct locks *l, unsigned cpu);

/*
 * A CPU is about to make these accesses by `insn`, at a sample point: queue a lock moment with the held locks. Called in a
 * callback, under d->lock.
 */
void locks_access(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct insn *insn, const struct datum *data,
		  unsigned n);

/*
 * Store in *out the locks that `context` holds, the CPU's current or held context. Returns false, with an empty set, when these
 * are not all known. Called in a callback, under d->lock.
 */
bool locks_held(struct locks *l, unsigned cpu, const struct guest_context *context, struct lockset *out);

/* Whether the function is part of the subject. Any thread. */
bool locks_of_subject(const struct locks *l, const struct guest_symbol *function);

/* Returns the ring of lock moments, for the follower. Guarded by d->lock. */
struct lock_ring *locks_ring(struct locks *l);

#endif
