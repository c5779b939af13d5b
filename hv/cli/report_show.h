/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judged races as `outrider report` shows them. */
#ifndef OUTRIDER_CLI_REPORT_SHOW_H
#define OUTRIDER_CLI_REPORT_SHOW_H

#include "pruner/verdicts.h"
#include "hv/export/export.h"
#include "hv/report/json/load.h"
#include "symbols/files/debug_images.h"

/*
 * For people, in their order: those not folded in full, each with its verdict, then one line and the evidence for the others;
 * `all`: every one in full. Then the table of `store`, which has the same races.
 */
void show_text(const struct verdicts *v, const struct race_store *store, const struct debug_images *images, bool all);

/* For other tools, in their order, to standard output. 0, or -1 when memory ran out. */
int show_export(const struct verdicts *v, const char *kernel,
		int (*export)(FILE *out, const struct export_run *run, struct err *err), struct err *err);

/* The document of `l`, its races as they are now and each with its verdict, to standard output. `v` is in the order of `l`. */
int show_json(struct verdicts *v, struct report_load *l, struct err *err);

#endif
