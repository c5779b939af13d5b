/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who judges the races of a report at the run's end. The report itself knows no rules: it calls this, and writes down what it
 * is told. All functions are called by the thread that calls report_finish().
 */
#ifndef OUTRIDER_REPORT_JUDGE_H
#define OUTRIDER_REPORT_JUDGE_H

#include <jansson.h>
#include <stdio.h>

#include "hv/base/err.h"
#include "hv/race/store.h"

struct report_judge {
	/*
	 * Judge all races of `store`, which lasts as long as the report. `banner` is that of the guest's kernel, or NULL when
	 * it was not found. Called once. 0, or -1 with err set: then nothing below is called.
	 */
	int (*judge)(void *ctx, const struct race_store *store, const char *banner, struct err *err);
	/* The verdict on race number `index` of the store, as docs/report-format.md describes it. NULL: memory ran out. */
	json_t *(*verdict)(void *ctx, size_t index);
	/* Print one line that says how many races there are of each class. */
	void (*sum)(void *ctx, FILE *out);
	/* Handed to all of them. */
	void *ctx;
};

#endif
