/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two CPUs without KVM: two processes that share a page of data, which one thread traces by ptrace(2). Steps, debug registers
 * and slices are real ones. One CPU is about to store to a datum, and the other one is about to load it.
 */
#ifndef OUTRIDER_TESTS_TRACED_COPY_H
#define OUTRIDER_TESTS_TRACED_COPY_H

#include <sys/types.h>

#include "hv/replay/gdb/race.h"
#include "hv/replay/gdb/watches.h"

#define TRACED_OLD 1u  /* what the datum is before the store */
#define TRACED_NEW 42u /* and after it */

/* What both CPUs see at the same address. */
struct traced_memory {
	uint64_t datum;
	/* What the second CPU has loaded. */
	uint64_t seen;
	/* How often each CPU has gone round in the loop behind its region. */
	uint64_t ticks[2];
	/* A CPU that finds it set ends. */
	uint64_t quit;
	uint8_t stacks[2][4096];
};

struct traced {
	struct traced_memory *memory;
	pid_t cpu[2];
	/* How the last step of each ended: it is gone. */
	bool gone[2];
	struct watches watches;
	unsigned met;
	struct race_copy copy;
	struct race race;
};

/* Instructions of the CPUs: the store, the load behind which the first instruction stores to `seen`, and the loop's. */
extern const char traced_store[], traced_load[], traced_tick[];

/* Start both CPUs before their accesses, with the order that lets the access of side `first` go first. */
void traced_start(struct traced *t, unsigned first);

/* End both. */
void traced_end(struct traced *t);

#endif
