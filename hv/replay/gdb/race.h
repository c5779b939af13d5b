/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes one order of a race a machine for gdb (struct gdb_machine), on any copy of a machine that can single-step. machine.h
 * says what the user of gdb sees. Used by one thread. The caller owns all data, which must last as long as the gdb_machine.
 */
#ifndef OUTRIDER_REPLAY_GDB_RACE_H
#define OUTRIDER_REPLAY_GDB_RACE_H

#include "hv/replay/gdb/gdb.h"
#include "hv/replay/order.h"

/* The longest datum, in bytes, whose changes are detected while an order is run by steps. */
#define RACE_WATCH_MAX 32

/* A copy of a machine. Functions without a comment are as in struct gdb_machine. */
struct race_copy {
	unsigned cpus;
	/* The functions for single steps, whose first argument is steps.ctx. */
	struct copy_ops steps;
	int (*get)(void *ctx, unsigned cpu, struct replay_cpu *out, struct err *err);
	int (*set)(void *ctx, unsigned cpu, const struct replay_cpu *in, struct err *err);
	size_t (*read)(void *ctx, unsigned cpu, uint64_t gva, void *out, size_t len);
	size_t (*write)(void *ctx, unsigned cpu, uint64_t gva, const void *in, size_t len);
	/*
	 * Load the debug registers of all CPUs with the watchpoints and, if `breakpoints` is set, the breakpoints. Returns
	 * false when there are not enough registers, which then stay unchanged.
	 */
	bool (*watch)(void *ctx, const struct gdb_point *points, size_t count, bool breakpoints);
	/*
	 * Returns the index of the breakpoint or watchpoint at which the last step or slice stopped according to the debug
	 * registers, or -1 if there is none. It is an index into the `points` of the last watch().
	 */
	int (*hit)(void *ctx);
	/*
	 * Run one CPU freely, with interrupts, for a few milliseconds. Returns COPY_STEPPED if the CPU has stopped at a
	 * breakpoint or watchpoint, which hit() then returns, or COPY_HALTED if the time is over.
	 */
	enum copy_step (*slice)(void *ctx, unsigned cpu);
	/*
	 * Run the devices, or pause them. The devices are paused until the first slice. Returns false on failure. NULL: there
	 * are no devices.
	 */
	bool (*devices)(void *ctx, bool run);
	/* Write the last lines of the machine's console output. */
	void (*console)(void *ctx, char out[GDB_ANSWER_MAX]);
	/* Write the reason why the copy has failed or has ended, as one line. */
	void (*why)(void *ctx, char out[GDB_TEXT_MAX]);
	void *ctx;
};

struct race {
	const struct race_copy *copy;
	struct order order;
	/* Name of the context that runs on the CPU of each side. Printable. */
	const char *who[2];
	/* The description of the race for `monitor info`, in lines. Printable. */
	const char *intro;
	struct order_run run;
	struct ordering ordering;
	/* The order is over, and a stop has told the client so. All CPUs run freely from now on. */
	bool free;
	/* The machine has ended. */
	bool ended;
	/* The CPU that had the last slice. */
	unsigned next;
	const struct gdb_point *points;
	size_t point_count;
	/* The bytes that each watchpoint watches, as they were before the last step. */
	uint8_t before[GDB_POINTS_MAX][RACE_WATCH_MAX];
};

/*
 * Begin the order, on a copy in which both sides are before their accesses. The caller has filled in the members of `r` above
 * `run`.
 */
void race_begin(struct race *r);

/* Returns the race as a machine for gdb_serve_client(). */
struct gdb_machine race_machine(struct race *r);

#endif
