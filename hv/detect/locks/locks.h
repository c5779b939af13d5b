/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Following locks. "The list" (config.locks) names the kernel's functions that take or release locks, hand objects over, or
 * allocate and free objects: the lock functions. Every call of a lock function in the subject, which is the sampled code, has
 * a lock hook. Lock hooks stay planted while CPUs hit them, so no call is missed on any CPU. From these calls the detector
 * derives which locks each context holds (lock_sets.h). Each hit of a sample point in the subject becomes a lock moment with
 * the held locks (lock_ring.h), even without a window, so accesses with interrupts off are recorded like all others. If the
 * ring is full, the moment is lost. Method: Eraser (SOSP'97), DILP (SANER'19, III-C).
 *
 * A lock counts as held from the call that takes it to the call that releases it. This is not exact, but it is enough: the
 * context runs no code of the subject between the call and the moment when the lock is really taken.
 */
#ifndef OUTRIDER_DETECT_LOCKS_LOCKS_H
#define OUTRIDER_DETECT_LOCKS_LOCKS_H

#include "hv/base/x86.h"
#include "hv/detect/core/access.h"
#include "hv/detect/locks/fates.h"
#include "hv/detect/locks/lock_load.h"
#include "hv/detect/locks/lock_ring.h"
#include "hv/detect/locks/section_holds.h"
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
 * Learn the addresses of lock functions in newly loaded text of this module ("" for the kernel). A kernel has only some
 * functions of the list. Called on the sampler's thread, without d->lock.
 */
void locks_learn(struct locks *l, const char *module, const struct symtab *symbols);

/*
 * Find the functions and variables of the user's list that no text loaded so far has: their names may be misspelt. Leaves out
 * inlined functions, because they have no symbol. Stores at most `max` names in `names`; the list owns the names. Returns the
 * number of all functions and variables found. Called on the sampler's thread, without d->lock.
 */
size_t locks_unknown(struct locks *l, const char *names[], size_t max);

/* Returns the lock function that a direct call or jump leads to, or NULL. Called on the sampler's thread, without d->lock. */
const struct lock_function *locks_called(struct locks *l, const struct insn *insn);

/*
 * Returns the lock function that is inlined at the start of this code, or NULL. `function` is the GVA of the function that
 * contains the code. Returns NULL, too, if that function itself is a lock function. Called on the sampler's thread, without
 * d->lock.
 */
const struct lock_function *locks_inlined(struct locks *l, uint64_t function, const uint8_t *code, size_t len);

/*
 * Remember that `function` is inlined at the instruction at `addr`; the caller plants a lock hook there. Returns 0, or -1 when
 * memory runs out: the caller must then plant no hook. Called on the sampler's thread, without d->lock.
 */
int locks_expect_inlined(struct locks *l, uint64_t addr, const struct lock_function *function);

/*
 * Remember that the instruction at `addr` runs when a call of `function` has returned; the caller plants a lock hook there.
 * Returns 0, or -1 when memory runs out: the call's result is then ignored. Called on the sampler's thread, without d->lock.
 */
int locks_expect_result(struct locks *l, uint64_t addr, const struct lock_function *function);

/*
 * The call stack shows that the function `caller` called the function `callee`, which belongs to the subject. If `caller` is on
 * the list as a function that calls callbacks (LOCK_CALLER), remember `callee` as a callback, so that its hooks are planted. A
 * function that is called serially (HANDOVER_SERIAL) counts only if it is in another module: inside its own module, `caller`
 * also calls functions without the lock. Called on the thread that follows locks, without d->lock.
 */
void locks_called_back(struct locks *l, const struct guest_symbol *caller, const struct guest_symbol *callee);

/*
 * Find a callback whose hooks are not planted yet, and store the callback's GVA in *addr. Returns the lock function by which
 * the detector learnt of the callback: the function that the subject passed the callback to, or the function that calls it.
 * Returns NULL when there is no such callback. Finds each callback once, unless locks_callbacks_again() is called. Called on
 * the sampler's thread, without d->lock.
 */
const struct lock_function *locks_next_callback(struct locks *l, uint64_t *addr);

/*
 * A module is loaded, with this text: let locks_next_callback() return the callbacks in it again, which became known while its
 * init function ran. Called on the sampler's thread, without d->lock.
 */
void locks_callbacks_again(struct locks *l, uint64_t base, uint64_t size);

/*
 * Remember that a callback begins or ends at the instruction at `addr`; the caller plants a lock hook there. Returns 0, or -1
 * when memory runs out: the hand-over is then not seen. Called on the sampler's thread, without d->lock.
 */
int locks_expect_callback(struct locks *l, uint64_t addr, const struct lock_function *function, bool begins);

/*
 * Returns a function of the list that needs a hook at its entry (entry_hooks.h), and stores its GVA in *addr. Returns NULL
 * when there is none. Returns each function once. Called on the sampler's thread, without d->lock.
 */
const struct lock_function *locks_next_entry(struct locks *l, uint64_t *addr);

/*
 * Remember that the instruction at `addr` is at the entry of `function`; the caller plants a lock hook there. Returns 0, or -1
 * when there are ENTRY_HOOKS_MAX hooks already: the caller must then plant no hook. Called on the sampler's thread, without
 * d->lock.
 */
int locks_expect_entry(struct locks *l, uint64_t addr, const struct lock_function *function);

/* Returns the hooks at entries. Guarded by d->lock. */
struct entries *locks_entries(struct locks *l);

/*
 * All callbacks known so far, and the entries of the functions that wait for them, have their hooks now: from now on the
 * detector sees their hand-overs. Called on the sampler's thread, without d->lock.
 */
void locks_callbacks_followed(struct locks *l);

/*
 * Follow the critical sections of this function. Its lock hooks are planted. When memory runs out, the sections are not
 * followed. Called on the sampler's thread, without d->lock.
 */
void locks_follow_sections(struct locks *l, const struct section_function *function);

/*
 * Add a site to the tables of callers (callers.h). When memory runs out, the site is missing, and sections in several functions
 * are missed. Called on the sampler's thread, without d->lock.
 */
enum caller_kind { CALLER_TAKE, CALLER_CALL, CALLER_JUMP };
void locks_add_caller(struct locks *l, enum caller_kind kind, const struct caller_site *site);

/* Find the functions that are in progress at the lock hook `pc` (callers_find()). Called in a callback, under d->lock. */
void locks_call_chain(const struct locks *l, uint64_t pc, uint64_t rsp, struct call_chain *out);

/*
 * Returns the pairs of critical sections that followed each other in one activation of a function (sections.h). Guarded by
 * d->lock.
 */
const struct sections *locks_sections(const struct locks *l);

/* Returns the followed accesses. Guarded by d->lock. */
struct fates *locks_fates(struct locks *l);

/*
 * All lock hooks in newly loaded text are planted. `complete`: every call that takes a lock has a lock hook; if not, locksets
 * are unknown from now on. Before `sure_from_ns` (CLOCK_MONOTONIC, ns) locksets are unknown in any case, because CPUs may be
 * in critical sections that they entered before. Called on the sampler's thread, without d->lock.
 */
void locks_planted(struct locks *l, bool complete, uint64_t sure_from_ns);

/*
 * CPUs may have missed lock hooks until now: forget all locksets and the order of all lock operations. Before `sure_from_ns`
 * (CLOCK_MONOTONIC, ns) locksets are unknown. Does nothing while lock hooks rest. Called on the sampler's thread, without
 * d->lock.
 */
void locks_forget(struct locks *l, uint64_t sure_from_ns);

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
 * A CPU hit a lock hook: update the locksets and the hand-overs, and queue lock moments. The CPU is at one or several of these
 * places: before a call of a lock function; after such a call, with the call's result in RAX; at an inlined lock function; at
 * the beginning or end of a callback; at the entry of a lock function. Called in a callback, under d->lock.
 */
void locks_call(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct point *point);

/*
 * A CPU hit a lock hook, and locks_call() was not called yet. If the hooked call takes the same lock as an earlier critical
 * section of this activation, the CPU is in the gap between these two sections. Returns true, with the gap in *out, if the CPU
 * should be held there to let another context's section come in between (sections_gap()). Called in a callback, under d->lock.
 */
bool locks_gap(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
	       const struct point *point, struct section_gap *out);

/*
 * A CPU hit a lock hook. Returns the GVA of the lock that the hooked call takes, and stores the CPU's context in *who. Returns
 * 0 if the call takes no lock or only tries to, or if the context is unknown. Called in a callback, under d->lock.
 */
uint64_t locks_takes(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
		     const struct point *point, struct lock_who *who);

/*
 * Store how to find the lock that the call at this lock hook takes: its GVA is the value of register *gpr plus *offset, or
 * *gpr is X86_GPRS if no register has it. Returns false if the call takes no lock, or only tries to. Called under d->lock.
 */
bool locks_place(struct locks *l, const struct point *point, uint8_t *gpr, int32_t *offset);

/*
 * The CPU is about to be held before a call that takes a lock, outside of any gap between two critical sections. Called in a
 * callback, under d->lock.
 */
void locks_hold_before(struct locks *l, unsigned cpu);

/*
 * The CPU is about to be held in this gap between two critical sections, before the call that begins the second one. Called in
 * a callback, under d->lock.
 */
void locks_hold(struct locks *l, unsigned cpu, const struct section_gap *gap);

/*
 * The CPU is held in a gap between two critical sections of a lock. Returns whether another context has had a section of this
 * lock in the gap meanwhile (sections_gap_met()). Called in a callback, under d->lock.
 */
bool locks_gap_met(struct locks *l, unsigned cpu);

/*
 * A CPU is about to make these accesses by `insn`, at a sample point: queue a lock moment with the held locks. Called in a
 * callback, under d->lock.
 */
void locks_access(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct insn *insn, const struct datum *data,
		  unsigned n);

/*
 * Store in *out the locks that `context` holds. `context` is what runs on the CPU now, or the context that is held on the CPU.
 * Returns false, with an empty set, if not all of these locks are known. Called in a callback, under d->lock.
 */
bool locks_held(struct locks *l, unsigned cpu, const struct guest_context *context, struct lockset *out);

/* Whether the function is part of the subject. Any thread. */
bool locks_of_subject(const struct locks *l, const struct guest_symbol *function);

/* Returns the ring of lock moments, for the thread that follows locks (lock_follower.h). Guarded by d->lock. */
struct lock_ring *locks_ring(struct locks *l);

#endif
