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

/* In a run between two calls (struct serial_between), the held side makes fewer system calls than this before it is held. */
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
	/*
	 * For each place: number of trials that ended with a value that no serial order gives, but not when they were run once
	 * more.
	 */
	uint8_t misses[ENDS_MAX];
	bool confirmed[ENDS_MAX]; /* a trial ended twice with a value of the place that no serial order gives */
};

/* Returns what a trial has to look at, so that serial_judge() can judge it. Valid as long as `s`. */
struct trial_looks serial_looks(const struct serial *s);

/*
 * Run both serial orders, and store their results in result->serial. After each order, read the values of the candidates'
 * places (ends.h). Returns 0, or -1 with `err` set, also if a serial order does harm already.
 */
int serial_run(struct serial *s, const struct base *base, const struct explore_config *config, const struct kernel *kernel,
	       struct explore_result *result, struct err *err);

/*
 * If t->outcome is EXPLORE_SAME, but no serial order ends as the trial does, set t->outcome to EXPLORE_KILLED, EXPLORE_STATUS,
 * EXPLORE_FREED_TWICE, EXPLORE_LEAK, EXPLORE_STATE or EXPLORE_RETURNS. `seen` is what trial_finish() has set. `c` is the
 * trial's candidate, or NULL for a random schedule. For EXPLORE_STATE, only the bytes of `c` are compared.
 *
 * Two copies of a machine that run freely are never quite alike. So before the first of the last four outcomes is set, both
 * serial orders are run twice more. The trial itself is also run once more, and must show the same; this is left out for a
 * place that was confirmed before.
 *
 * In a serial order, no call of one program comes between two calls of the other program. But such an order of calls is right,
 * too. So none of the six outcomes is set if the trial ends as a run between two calls does. In such a run, one side is held
 * right before or right after the system call in which the trial held it, while the other side runs to its end. These runs are
 * made when they are needed, and kept.
 */
void serial_judge(struct serial *s, const struct explore_candidate *c, struct explore_trial *t, const struct trial_seen *seen);

/* Free what serial_judge() has kept. */
void serial_free(struct serial *s);

#endif
