/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves one order of a race to gdb. The order runs on a copy of the machine (hv/replay/copy.h), in which both sides are before
 * their accesses at the start.
 *
 * Until the order is over, the CPUs run as in order_run(): the two sides in turns, without interrupts, while all other CPUs are
 * stopped. When both regions are at their ends, the machine stops. After that stop all CPUs run freely, with interrupts.
 */
#ifndef OUTRIDER_REPLAY_GDB_MACHINE_H
#define OUTRIDER_REPLAY_GDB_MACHINE_H

#include "hv/replay/gdb/gdb.h"
#include "hv/replay/run.h"

/*
 * Make a copy of the machine, and serve it by gdb_serve_client(). In this copy, the access of side `first` goes first. To be
 * called in a process of its own, as run_order() is. `intro` describes the race, in lines: the first lines that `monitor info`
 * prints. Returns 0, or -1 with `err` set.
 */
int gdb_replay(const struct run_plan *plan, unsigned first, const char *intro, const struct gdb_config *config,
	       struct err *err);

#endif
