/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the serial orders, and judges whether a trial ended as they do. */
#ifndef OUTRIDER_EXPLORE_SERIAL_H
#define OUTRIDER_EXPLORE_SERIAL_H

#include "hv/base/err.h"
#include "hv/explore/base.h"
#include "hv/explore/ends.h"
#include "hv/explore/facts.h"
#include "hv/explore/kernel.h"
#include "hv/explore/trial.h"

/* The most system calls of a side after which the other side is run between two of them. */
#define SERIAL_CALLS_MAX 64

/* A run in which one side ran to its end between two system calls of the other side. */
struct serial_between {
	bool ended; /* the order was forced and the outcome was EXPLORE_SAME, so the members below are valid */
	int status[2];
	struct trial_seen seen;
};

/* The serial orders. `base`, `config` and `trial` must outlive it. */
struct serial {
	const struct base *base;
	const struct explore_config *config;
	struct explore_result *result; /* its `serial` is read, and its `between` set */
	struct ends ends;
	struct leaks leaks;
	struct returns returns;				     /* returns.site is set before serial_run() */
	struct serial_between *between[2][SERIAL_CALLS_MAX]; /* by the side and the calls it had made; NULL: not run */
	bool repeated;					     /* both orders were run again */
	/* Number of trials that gave the place such a value, but not when they were run once more. */
	uint8_t misses[ENDS_MAX];
	bool confirmed[ENDS_MAX]; /* a trial ended twice with a value of the place that no serial order gives */
};

/* Returns what a trial has to look at, so that serial_judge() can judge it. Valid as long as `s`. */
struct trial_looks serial_looks(const struct serial *s);

/*
 * Run both serial orders, set result->serial, and read the places of the candidates of `result` afterwards (ends.h). Returns 0,
 * or -1 with `err` set, also if a serial order does harm already.
 */
int serial_run(struct serial *s, const struct base *base, const struct explore_config *config, const struct kernel *kernel,
	       struct explore_result *result, struct err *err);

/*
 * Set t->outcome, if it is EXPLORE_SAME, to EXPLORE_KILLED, EXPLORE_STATUS, EXPLORE_FREED_TWICE, EXPLORE_LEAK, EXPLORE_STATE or
 * EXPLORE_RETURNS if no serial order ends so. For EXPLORE_STATE, only the bytes of the trial's own candidate `c` are compared,
 * which is NULL for a random schedule. `seen` is what trial_finish() has set. Two copies of a machine that run freely are never
 * quite alike. So before memory that is lost or freed twice, the first value of a place, or the first result of a system call,
 * counts, both serial orders are run twice more, and the trial once more.
 *
 * In a serial order, no call of one program comes between two calls of the other one, although that is right, too. So none of
 * these outcomes is set if the trial ends as one of the runs in which a side is held right before or after the system call that
 * it was in, while the other one runs to its end. These runs are made when they are needed, and kept.
 */
void serial_judge(struct serial *s, const struct explore_candidate *c, struct explore_trial *t, const struct trial_seen *seen);

/* Free what serial_judge() has kept. */
void serial_free(struct serial *s);

#endif
