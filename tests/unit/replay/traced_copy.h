/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two CPUs without KVM: two processes that share a page of data, traced by one thread with ptrace(2). They really make steps,
 * use debug registers and run in slices. One CPU is about to store to a datum, and the other CPU is about to load it.
 */
#ifndef OUTRIDER_TESTS_TRACED_COPY_H
#define OUTRIDER_TESTS_TRACED_COPY_H

#include <sys/types.h>

#include "hv/replay/gdb/race.h"
#include "hv/replay/gdb/watches.h"

#define TRACED_OLD 1u  /* the datum before the store */
#define TRACED_NEW 42u /* and after it */

/* The memory that both CPUs have at the same address. */
struct traced_memory {
	uint64_t datum;
	/* The value that the second CPU loaded. */
	uint64_t seen;
	/* How often each CPU has run through the loop that comes after its region. */
	uint64_t ticks[2];
	/* A CPU ends when this is not 0. */
	uint64_t quit;
	uint8_t stacks[2][4096];
};

struct traced {
	struct traced_memory *memory;
	pid_t cpu[2];
	/* Whether each CPU ended in its last step. */
	bool gone[2];
	struct watches watches;
	unsigned hits;
	struct race_copy copy;
	struct race race;
};

/* Code of the CPUs: the store; the load, after which the next instruction stores the value to `seen`; the loop. */
extern const char traced_store[], traced_load[], traced_tick[];

/* Start both CPUs before their accesses. In this order the access of side `first` goes first. */
void traced_start(struct traced *t, unsigned first);

/* End both CPUs. */
void traced_end(struct traced *t);

#endif
