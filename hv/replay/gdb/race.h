/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One order of a race as a machine for gdb, over any copy of a machine that makes single steps. machine.h says what it is like
 * for the user. One thread; everything is the caller's and lasts as long as the machine.
 */
#ifndef OUTRIDER_REPLAY_GDB_RACE_H
#define OUTRIDER_REPLAY_GDB_RACE_H

#include "hv/replay/gdb/gdb.h"
#include "hv/replay/order.h"

/* The longest datum whose writes are watched while an order is stepped. */
#define RACE_WATCH_MAX 32

/* A copy of a machine. The functions without a comment are as those of struct gdb_machine. */
struct race_copy {
	unsigned cpus;
	/* Its context is `ctx` as well. */
	struct copy_ops steps;
	int (*get)(void *ctx, unsigned cpu, struct replay_cpu *out, struct err *err);
	int (*set)(void *ctx, unsigned cpu, const struct replay_cpu *in, struct err *err);
	size_t (*read)(void *ctx, unsigned cpu, uint64_t gva, void *out, size_t len);
	size_t (*write)(void *ctx, unsigned cpu, uint64_t gva, const void *in, size_t len);
	/*
	 * Load the debug registers of all CPUs with these points, if `breakpoints` with breakpoints too. False: there are not
	 * enough of them, and they are what they were.
	 */
	bool (*watch)(void *ctx, const struct gdb_point *points, size_t count, bool breakpoints);
	/* The index of the point that the last step or slice met, as the debug registers say. -1: none. */
	int (*met)(void *ctx);
	/*
	 * Let one CPU go on freely, with interrupts, for some milliseconds at most. COPY_STEPPED: it has met a point before
	 * that. COPY_HALTED: the time is over.
	 */
	enum copy_step (*slice)(void *ctx, unsigned cpu);
	/*
	 * Let devices serve requests, or make them stand still, as they do until the first slice. Returns false when that
	 * fails. NULL: there are none.
	 */
	bool (*devices)(void *ctx, bool run);
	/* The end of what the machine has said on its console, in lines. */
	void (*console)(void *ctx, char out[GDB_ANSWER_MAX]);
	/* Why the copy has failed or has ended, as one line. */
	void (*why)(void *ctx, char out[GDB_TEXT_MAX]);
	void *ctx;
};

struct race {
	const struct race_copy *copy;
	struct order order;
	/* Who runs on the CPU of each side. Printable. */
	const char *who[2];
	/* What `monitor info` says of the race, in lines. Printable. */
	const char *intro;
	struct order_run run;
	struct ordering ordering;
	/* The order is over, and the client has been told. */
	bool free;
	/* The machine has ended. */
	bool ended;
	/* The CPU that had the last slice. */
	unsigned next;
	const struct gdb_point *points;
	size_t point_count;
	/* What the datum of each watchpoint was before the last step. */
	uint8_t before[GDB_POINTS_MAX][RACE_WATCH_MAX];
};

/* Begin the order on a copy that stands before both accesses. `r` has the members above `run` filled in. */
void race_begin(struct race *r);

/* The race for gdb_serve_client(). */
struct gdb_machine race_machine(struct race *r);

#endif
