/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was seen when a CPU stopped in the code whose locks are followed: an access, or a lock that is taken or given back.
 * Plain data, which hv/detect fills in and hands to its sink in the order in which it happened.
 */
#ifndef OUTRIDER_RACE_LOCK_MOMENT_H
#define OUTRIDER_RACE_LOCK_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/facts.h"
#include "hv/race/lockset.h"
#include "symbols/insn/insn.h"

/* The functions of the subject on the stack that are kept. */
#define LOCK_PATH_MAX 6
/* The contexts on other CPUs that are kept. */
#define LOCK_DURING_MAX 8

enum lock_moment_kind {
	LOCK_MOMENT_ACCESS, /* the instruction at `pc` is about to access `data` */
	LOCK_MOMENT_TAKE,   /* `lock` is about to be taken, or tried if lock.maybe */
	LOCK_MOMENT_GIVE,   /* `lock` is about to be given back */
	LOCK_MOMENT_FREE,   /* the object at lock.gva is about to be freed, or was just allocated: what it was is over */
};

/*
 * The register that an instruction finds memory by, as it is before the instruction. Debug files say what kind of pointer it
 * is. All zero: there is none that says more than the address.
 */
struct base_register {
	uint64_t value;
	uint8_t gpr; /* enum x86_gpr */
};

struct lock_datum {
	uint64_t gva, gpa;
	uint32_t size;
	/* enum insn_rw bits */
	uint8_t rw;
	/* The instruction is LOCKed. */
	bool locked;
	struct base_register base;
	/* What is there, from the guest's own tables. */
	struct guest_memory memory;
};

struct lock_moment {
	/* Counts all moments of a run, from 1 on. Not every number has a moment: some are lost when there are too many. */
	uint64_t number;
	enum lock_moment_kind kind;
	/* Nanoseconds since the first sample point was armed. */
	uint64_t time_ns;
	unsigned cpu;
	struct guest_context context;
	/* The instruction's GVA, and its function. */
	uint64_t pc;
	struct guest_symbol symbol;
	/* What the context held when it came here. */
	struct lockset locks;
	/* Of each lock in it that was taken outside of the subject (taken_at 0), at the same place, what is at its address. */
	struct guest_memory held_memory[LOCKSET_MAX];
	/* Of TAKE and GIVE the lock, with what is at its address in `lock_memory`. Of FREE the object's GVA is lock.gva. */
	struct held_lock lock;
	struct guest_memory lock_memory;
	/* Of TAKE, the argument that says which lock it is. */
	struct base_register lock_base;
	/* Of ACCESS. */
	struct lock_datum data[INSN_MAX_MEM];
	unsigned data_count;
	/*
	 * The functions of the subject that this context is in, innermost first. The last one is the operation: what was called
	 * from outside of the subject, or what the interrupt came to. 0: the stack could not be followed.
	 */
	struct guest_symbol path[LOCK_PATH_MAX];
	unsigned path_count;
	/* There were more functions than fit; the last of `path` is the operation all the same. */
	bool path_cut;
	/*
	 * The numbers of earlier moments whose contexts, on other CPUs or interrupted on this one, were surely still where they
	 * were then or further inside the same operation: held before that access, or holding a lock that was taken there.
	 */
	uint64_t during[LOCK_DURING_MAX];
	unsigned during_count;
};

#endif
