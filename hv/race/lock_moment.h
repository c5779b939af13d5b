/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A lock moment: an event in the subject, the code whose locks are followed. The event is an access, a lock taken or released,
 * or an object freed. Plain data. hv/detect makes a lock moment at a CPU's stop, and passes the moments to struct detect_sink
 * in order of time.
 */
#ifndef OUTRIDER_RACE_LOCK_MOMENT_H
#define OUTRIDER_RACE_LOCK_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/facts.h"
#include "hv/race/lockset.h"
#include "symbols/insn/insn.h"

/* Maximum number of the subject's functions that are recorded per stack. */
#define LOCK_PATH_MAX 6
/* Maximum number of other contexts that are recorded per event. */
#define LOCK_DURING_MAX 8
/*
 * Upper bound of the size of a reused object (`reused` of struct lock_moment), in bytes: the event has its start, but not its
 * size. The requests of Linux's block layer, with the data of a driver, have some 300 to 1000 bytes.
 */
#define LOCK_REUSED_BYTES 1024u

enum lock_moment_kind {
	LOCK_MOMENT_ACCESS, /* the instruction at `pc` is about to access `data` */
	LOCK_MOMENT_TAKE,   /* the context is about to take `lock`, or to try it if lock.maybe is set */
	LOCK_MOMENT_GIVE,   /* the context is about to release `lock` */
	/* the object at lock.gva is about to be freed, or was just allocated: the previous object at that address is gone */
	LOCK_MOMENT_FREE,
};

/*
 * The base register of an instruction's memory operand, with the register's value before the instruction. Debug files say which
 * type of pointer the register holds. All zero: the operand has no base register that can be a pointer to an object.
 */
struct base_register {
	uint64_t value;
	uint8_t gpr; /* enum x86_gpr */
};

/* How code compares a datum that it reads with a constant. All zero: not known. */
struct lock_check {
	bool known;
	/* The constant, in the low bytes that the datum has. */
	uint64_t value;
	/*
	 * A GVA, or 0. A je directly after the comparison jumps to this address, over the code between, if the datum is
	 * `value`. No other branch there depends on the datum, as far as decision_by() follows it.
	 */
	uint64_t until;
};

/* How code branches by a datum that it reads. All zero: not known. */
struct lock_test {
	bool known;
	/* A je or jne, or for one bit a jb or jae, branches by whether the datum's bits in `mask` are `value`. */
	uint64_t mask, value;
};

struct lock_datum {
	uint64_t gva, gpa;
	uint32_t size;
	/* enum insn_rw bits */
	uint8_t rw;
	/* The instruction is LOCKed. */
	bool locked;
	/* The code decides by the value that the instruction reads: it compares the value and branches. */
	bool decides;
	/*
	 * The instruction is a step along a list: in a loop, it loads the address of the next object (decision.h). A decision
	 * by this address says whether the list has a next object.
	 */
	bool steps;
	/* The bits of the datum by which the code may decide (decision_bits.h). 0: the code does not decide. */
	uint64_t bits;
	struct lock_check check;
	struct lock_test test;
	/* The function can return each of its results, whichever way the code branches by the value (decision_results.h). */
	bool same_results;
	/* The code stores to this datum again before it calls a function, such as one that releases a lock (decision.h). */
	bool stores_back;
	struct base_register base;
	/* What kind of memory the datum is in, and which object, from the guest's own data structures. */
	struct guest_memory memory;
};

struct lock_moment {
	/* Numbers all events of a run, from 1. Some numbers are missing: events are dropped when they come too fast. */
	uint64_t number;
	enum lock_moment_kind kind;
	/* Nanoseconds since the first sample point was armed. */
	uint64_t time_ns;
	unsigned cpu;
	struct guest_context context;
	/* GVA of the instruction, and the function that contains it. */
	uint64_t pc;
	struct guest_symbol symbol;
	/* The locks that the context holds directly before the event. */
	struct lockset locks;
	/*
	 * The entry at index i is for lock i of `locks`. If that lock was taken outside of the subject (taken_at is 0), the
	 * entry says which variable or object contains the lock.
	 */
	struct guest_memory held_memory[LOCKSET_MAX];
	/*
	 * TAKE and GIVE: `lock` is the lock, and `lock_memory` says in which variable or object it lies. FREE: only
	 * lock.gva is set, to the GVA of the object.
	 */
	struct held_lock lock;
	/* FREE: the object is not freed, but goes back to a pool, from which it is taken again. It may begin inside a page. */
	bool reused;
	struct guest_memory lock_memory;
	/* LOCK_MOMENT_TAKE: the argument register that points to the lock. */
	struct base_register lock_base;
	/* ACCESS only. */
	struct lock_datum data[INSN_MAX_MEM];
	unsigned data_count;
	/*
	 * The functions of the subject on the context's stack, innermost first. The last one is the operation: the function
	 * that was called from outside of the subject, or the interrupt's handler. Count 0: the stack could not be unwound.
	 */
	struct guest_symbol path[LOCK_PATH_MAX];
	unsigned path_count;
	/* The stack had more functions of the subject than fit. The last entry of `path` is still the operation. */
	bool path_cut;
	/*
	 * Numbers of earlier events in other contexts, which run on other CPUs or are interrupted on this CPU. Each such
	 * context is certainly still in the same operation as at its earlier event, because it is held before the access of
	 * that event, or still holds the lock that it took in that event.
	 */
	uint64_t during[LOCK_DURING_MAX];
	unsigned during_count;
};

#endif
