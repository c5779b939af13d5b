/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of one order, in a process of its own. */
#ifndef OUTRIDER_REPLAY_RUN_H
#define OUTRIDER_REPLAY_RUN_H

#include <stdbool.h>

#include "hv/replay/compare.h"
#include "hv/race/meeting.h"
#include "hv/replay/config.h"
#include "hv/replay/copy.h"
#include "hv/vmm/ram.h"
#include "hv/vmm/snapshot/snapshot.h"

/* What all runs of a meeting have in common. */
struct run_plan {
	const struct vm_state *state;
	const struct meeting *meeting;
	const struct replay_config *config;
	struct ram ram;
	unsigned cpus;
	/* Where the copies get /dev/kvm and their disks; see struct vm_copy_config. */
	int kvm_fd;
	struct disk *const *disks;
	/*
	 * Called in a run's own process when the run is over, the free run too, with the copy as it is then: to look at its
	 * memory and registers. Returns 0, or -1 with `err` set. NULL: nobody looks.
	 */
	int (*look)(void *ctx, struct copy *copy, struct err *err);
	void *look_ctx;
};

/* What a run leaves in memory that it shares with its parent. All zero at first. */
struct run_result {
	/* `run` is whole: the order was run to its end, or failed. */
	bool ended;
	struct compare_run run;
	/* How the free run ended, and the first line of trouble from the start of the order on. */
	enum replay_machine machine;
	char trouble[REPLAY_TEXT_MAX];
	/* Why there is no run, or why nobody could look at its end. EXIT_OK while `ended` is not set: it is not known. */
	struct err err;
};

/* Make the copy as it is before both accesses, and let plan->look() look at it. Returns 0, or -1 with `err` set. */
int run_before(const struct run_plan *r, struct err *err);

/* The order that lets the access of side `first` go first. */
void run_describe(const struct run_plan *r, unsigned first, struct order *order);

/*
 * Make the copy, with both sides before their accesses. `console` stays the caller's. Returns 0, or -1 with `err` set;
 * copy_close() may follow either way.
 */
int run_open(const struct run_plan *r, struct copy *copy, int console, struct err *err);

/* Run the order that lets the access of side `first` go first, and then let it run freely if `go_on` says so. */
void run_order(const struct run_plan *r, unsigned first, bool go_on, struct run_result *out);

#endif
