/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds which functions of the subject (the sampled code) have called the function whose lock hook a CPU hit, so that critical
 * sections in several functions can be found to belong to one activation of their common caller.
 *
 * The kernel's unwind tables (ORC) say how far above RSP the return address of a function is. caller_hooks.h reads this, in
 * advance, for each lock hook and each call to a function that takes locks. So finding a caller reads only one word of the
 * stack, and no guess is made: a return address counts only if it is directly after a known call of the known function.
 *
 * Code decides by the result of a call if a branch depends on the result (decision.h).
 *
 * Adding allocates; nothing else does. Guarded by the detector's lock.
 */
#ifndef OUTRIDER_DETECT_LOCKS_CALLERS_H
#define OUTRIDER_DETECT_LOCKS_CALLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guest;

/* At most this many callers of the function with the lock hook are found. */
#define CALLERS_MAX 2u

/* A place in the code of the subject. */
struct caller_site {
	/*
	 * A GVA. In callers.takes: of the call. In callers.calls: of the instruction after the call. In callers.jumps: of the
	 * function to which the jump leads.
	 */
	uint64_t addr;
	/* GVA of the start of the function that contains the call or the jump. */
	uint64_t function;
	/* After a call: GVA of the called function. */
	uint64_t target;
	/* Bytes from RSP, at the call, to the frame's CFA, which is directly above the function's return address. */
	uint32_t frame;
	/* After a call: the code after it decides by the call's result. */
	bool decides;
};

struct caller_table {
	struct caller_site *list; /* sorted by `addr` */
	size_t count;
};

/*
 * All zero: empty. `takes`: the calls that take a lock. `calls`: the instructions after calls of functions that take locks.
 * `jumps`: functions that take locks and at which another function ends by a jump (a tail call).
 */
struct callers {
	struct caller_table takes, calls, jumps;
};

/*
 * A function that is in progress. It has called the function before it in the chain, or has ended by a jump to that function (a
 * tail call).
 */
struct caller_frame {
	uint64_t function; /* GVA of its start */
	uint64_t cfa;	   /* its frame's CFA, which tells its activations apart */
	bool decides;	   /* the code after the call decides by the call's result */
	/*
	 * If the stack does not show how the function before it in the chain was reached: GVA of that function, to which this
	 * function has a jump at its end. Other functions may have such a jump, too, so the frame counts only if a hook saw
	 * this function's activation jump. 0: the stack shows that this function called that function, or jumped to it.
	 */
	uint64_t jumped;
};

/* The functions that are in progress at a lock hook. */
struct call_chain {
	/* The function that contains the lock hook. 0: unknown, and then there are no frames. */
	uint64_t function;
	struct caller_frame frames[CALLERS_MAX]; /* the nearest caller first */
	unsigned count;
};

void callers_fini(struct callers *c);

/* Add a site. Returns 0, or -1 when memory runs out. */
int caller_table_add(struct caller_table *t, const struct caller_site *site);

/* Forget the sites in the text [base, base+size), which is about to be freed. */
void callers_text_gone(struct callers *c, uint64_t base, uint64_t size);

/*
 * Find the chain of a CPU that is at the lock hook `pc` with this stack pointer. Reads up to CALLERS_MAX words of guest memory:
 * allowed in a callback.
 */
void callers_find(const struct callers *c, const struct guest *guest, uint64_t pc, uint64_t rsp, struct call_chain *out);

#endif
