/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interface to the component that judges the races at the end of a run. The report has no rules of its own: it calls these
 * functions and writes their results. All are called on the thread that calls report_finish().
 */
#ifndef OUTRIDER_REPORT_JUDGE_H
#define OUTRIDER_REPORT_JUDGE_H

#include <jansson.h>
#include <stdio.h>

#include "hv/base/err.h"
#include "hv/race/store.h"
#include "hv/report/run_facts.h"

struct report_judge {
	/*
	 * Judge all races of `store`. `store` stays valid as long as the report exists, and `run`, the facts of the finished
	 * run, only during the call. Called once. Returns 0, or -1 with err set; then no other function is called.
	 */
	int (*judge)(void *ctx, const struct race_store *store, const struct run_facts *run, struct err *err);
	/*
	 * Returns the verdict on race `index` of the store, as docs/report-format.md describes it, or NULL if memory runs out.
	 */
	json_t *(*verdict)(void *ctx, size_t index);
	/* Returns the id of the group of race `index` of the store. */
	const char *(*group)(void *ctx, size_t index);
	/* Returns the list of groups, as docs/report-format.md describes it, or NULL if memory runs out. */
	json_t *(*groups)(void *ctx);
	/* Print the totals in one line, then a list with a line for each group, likely bugs first. */
	void (*list)(void *ctx, FILE *out);
	/* Print one line with the number of races of each class of verdict. */
	void (*sum)(void *ctx, FILE *out);
	/* First argument of all functions. */
	void *ctx;
};

#endif
