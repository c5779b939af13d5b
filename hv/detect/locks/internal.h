/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of lock following (locks.h), and what its files share: lock_moments.c has locksets and accesses, lock_calls.c the
 * calls of lock functions, and lock_handovers.c the hand-overs without a lock. Only hv/detect/locks includes this header.
 * The detector's lock guards all of it.
 */
#ifndef OUTRIDER_DETECT_LOCKS_INTERNAL_H
#define OUTRIDER_DETECT_LOCKS_INTERNAL_H

#include "hv/detect/core/state.h"
#include "hv/detect/locks/callers.h"
#include "hv/detect/locks/entries.h"
#include "hv/detect/locks/fates.h"
#include "hv/detect/locks/handover.h"
#include "hv/detect/locks/lock_known.h"
#include "hv/detect/locks/lock_sets.h"
#include "hv/detect/locks/lock_load.h"
#include "hv/detect/locks/lock_ring.h"
#include "hv/detect/locks/section_holds.h"
#include "hv/detect/locks/sections.h"

/* Maximum number of stacks that are copied in a burst (lock_moments.c). */
#define CAPTURES_AT_ONCE 50.0

struct locks {
	struct detect *d;
	/*
	 * Tables by address. `known`: the lock functions of this guest. `results`: instructions at which a call's result is
	 * seen. `inlined`: instructions where an inlined lock function begins. `begins`, `ends`: instructions where a callback
	 * begins or ends.
	 */
	struct lock_known known, results, inlined, begins, ends;
	struct entries entries;
	struct handover handover;
	struct lock_sets sets;
	/* The latest lock operations and hand-overs, to find whether they order two accesses. */
	struct lock_events events;
	/* Critical sections that follow each other in one activation of a function. */
	struct sections sections;
	/* Whether data that these sections access change later. */
	struct fates fates;
	struct callers callers;
	struct lock_load load;
	/* Until this time (CLOCK_MONOTONIC, ns) locksets are unknown. */
	uint64_t unsure_until_ns;
	/* Number of locks, since the last locks_dropped(), that were held when the text that took them was freed. */
	unsigned dropped;
	struct lock_ring ring;
	/* The number of the latest lock moment. */
	uint64_t number;
	/* For each CPU with an open window, the number of the moment of the held access. */
	uint64_t window[TARGET_MAX_CPUS];
	/* For each CPU that is held between two critical sections, these two sections. */
	struct section_gap gap[TARGET_MAX_CPUS];
	/*
	 * The budget of stack copies (lock_moment_pay()): when it was last refilled (CLOCK_MONOTONIC, ns), and how many copies
	 * it allows now.
	 */
	uint64_t paid_ns;
	double budget;
};

/* ---- locks.c ---- */

/* Returns the target of a direct call or jump, or 0 for any other instruction. */
uint64_t lock_call_target(const struct insn *insn);

/* Returns the register that passes the argument of a call of this function, or X86_GPRS if no register does. */
uint8_t lock_argument_gpr(const struct lock_function *function);

/* Returns the register that holds the argument, or an all-zero struct if no register holds it or the argument is NULL. */
struct base_register lock_argument_register(const struct lock_function *function, const struct x86_regs *regs);

/* Returns the value of the argument of a call of this function, at the call or at the start of the function. */
uint64_t lock_argument(const struct locks *l, const struct lock_function *function, const struct x86_regs *regs);

/* ---- lock_moments.c ---- */

/*
 * Take one stack copy from the budget, for a lock moment of a call. Returns whether the budget allowed it. `others`: other
 * contexts are in critical sections. Then the whole budget may be used, because only a call during critical sections of other
 * contexts shows which contexts overlap.
 */
bool lock_moment_pay(struct locks *l, uint64_t now, bool others);

/*
 * Store in `during` the numbers of moments of other contexts: for a context that is held before an access, the moment of this
 * access; for a context in a critical section, the moment when it took its latest lock. Such a context is on another CPU,
 * interrupted, or asleep. Returns how many numbers were stored. If this CPU's own window is open, the context that stopped now
 * is an interrupt, and the held context is one of those other contexts.
 */
unsigned lock_other_contexts(const struct locks *l, const struct lock_context *own, uint64_t during[LOCK_DURING_MAX]);

/* Add a moment with the number l->number to the ring. Returns NULL if the ring is full: the moment is then lost. */
struct raw_moment *lock_moment_put(struct locks *l, enum lock_moment_kind kind, uint64_t now);

/*
 * This context may have returned from calls that acquire an object, though no hook saw the return. Record these acquires before
 * the event of the current stop, because the calls returned before the stop.
 */
void lock_see_returns(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
		      bool in_subject);

/*
 * This CPU is in this context now, so all interrupts of a higher kind (enum guest_context_kind) have ended on the CPU: forget
 * what they held, and the callbacks that they ran.
 */
void lock_seen(struct locks *l, unsigned cpu, const struct guest_context *context);

/* ---- lock_handovers.c ---- */

/*
 * Record a call of a function that hands over: it releases an object, waits for one, or stops a callback. `entry`: the CPU is
 * at the function's start, after the call pushed the return address; otherwise it is at the call.
 */
void lock_handed_over(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct known_lock_function *f,
		      bool entry);

/*
 * The CPU is at the entry of a function that hands over, which any code may have called. If the object belongs to a callback
 * of the subject, record the call.
 */
void lock_entered(struct locks *l, unsigned cpu, const struct x86_regs *regs, struct entry_hook *entry);

/*
 * A call that waits for a hand-over has returned, with its result in RAX. If the result says that the context has acquired the
 * object, record that.
 */
void lock_taken_over(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct lock_function *function);

/*
 * The CPU is at the first instruction of a callback, or at an instruction with which the callback ends: record that the
 * context acquires or releases the callback's object.
 */
void lock_callback_begins(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct lock_function *function);

void lock_callback_ends(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct lock_function *function);

#endif
