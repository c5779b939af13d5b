/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of one order, in a process of its own. */
#ifndef OUTRIDER_REPLAY_RUN_H
#define OUTRIDER_REPLAY_RUN_H

#include <stdbool.h>

#include "hv/replay/compare.h"
#include "hv/race/rendezvous.h"
#include "hv/replay/config.h"
#include "hv/replay/copy.h"
#include "hv/vmm/ram.h"
#include "hv/vmm/snapshot/snapshot.h"

/* Input that all runs of a rendezvous share. */
struct run_plan {
	const struct vm_state *state;
	const struct rendezvous *rendezvous;
	const struct replay_config *config;
	struct ram ram;
	unsigned cpus;
	/* /dev/kvm and the disks for the copies; see struct vm_copy_config. */
	int kvm_fd;
	struct disk *const *disks;
	/*
	 * Called in the process of a run, after the order and the free run, to read the copy's memory and registers. Returns 0,
	 * or -1 with `err` set. May be NULL.
	 */
	int (*look)(void *ctx, struct copy *copy, struct err *err);
	void *look_ctx;
};

/* The result of a run, in memory that it shares with its parent. All zero at first. */
struct run_result {
	/* `run` is complete: the order ran to its end, or failed. */
	bool ended;
	/* Only in an order of critical sections: side 0 came to the second of its two sections (interleave.h). */
	bool reached;
	struct compare_run run;
	/* How the free run ended, and the first line of trouble since the start of the order. */
	enum replay_machine machine;
	char trouble[REPLAY_TEXT_MAX];
	/*
	 * The reason why the run could not be made, or why plan->look() failed. If `ended` is false and err.code is EXIT_OK,
	 * the reason is unknown.
	 */
	struct err err;
};

/* Make a copy in which both sides are before their accesses, and call plan->look() on it. Returns 0, or -1 with `err` set. */
int run_before(const struct run_plan *r, struct err *err);

/*
 * Search a machine's console output so far, in the file `console`, for trouble. `line` becomes the first line of trouble, which
 * may contain any bytes from the guest. If there is output, stores in *panic whether the kernel panicked. Otherwise leaves
 * *panic unchanged.
 */
enum trouble run_read_console(int console, char line[REPLAY_TEXT_MAX], bool *panic);

/* Set *order to the order in which the access of side `first` goes first. */
void run_describe(const struct run_plan *r, unsigned first, struct order *order);

/*
 * Make the copy, with both sides before their accesses. The caller keeps `console`. Returns 0, or -1 with `err` set;
 * copy_close() may follow in either case.
 */
int run_open(const struct run_plan *r, struct copy *copy, int console, struct err *err);

/*
 * Run the order in which the access of side `first` goes first, followed by a free run if `go_on` is set. In a rendezvous of
 * sections, `first` is an enum section_order, and only an order whose regions are both at their ends has a free run.
 */
void run_order(const struct run_plan *r, unsigned first, bool go_on, struct run_result *out);

#endif
