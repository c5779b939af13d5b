/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How `outrider report` shows judged races. */
#ifndef OUTRIDER_CLI_REPORT_SHOW_H
#define OUTRIDER_CLI_REPORT_SHOW_H

#include "hv/cli/fail_on.h"
#include "pruner/verdicts.h"
#include "hv/export/export.h"
#include "hv/cli/race_files.h"
#include "hv/report/json/load.h"
#include "hv/report/listing.h"
#include "symbols/files/debug_images.h"

struct show_how {
	/* Where the names are from; NULL: no debug files were asked. */
	const struct debug_images *images;
	/* Makes the code around the accesses into instructions. NULL: the code is shown as bytes. */
	struct listing_maker *listing;
	/* Show every race in full. */
	bool all;
	/* Fold lines to this many characters. 0: lines are as long as they are. */
	unsigned width;
	/* Standard output is a terminal that shows colours, perhaps behind a pager. */
	bool colour;
	/* Which races make the command fail. Only exports need it. */
	const struct fail_on *fail_on;
};

/*
 * Show the races to people, in the order of `v`. What is known of the runs comes first. Races that are not folded are shown in
 * full, each with its verdict. Then each folded race is shown as one line with its evidence. The table of the races in `store`
 * follows; `store` has the same races as `v`.
 */
void show_text(const struct verdicts *v, const struct race_store *store, const struct race_runs *runs,
	       const struct show_how *how);

/* Print a suppression of each race that show_text() would show in full, for the user to fill in the reasons. */
void show_suppressions(const struct verdicts *v, const struct show_how *how);

/* Write the races to standard output in the form of `export`, in the order of `v`. Returns 0, or -1 when memory ran out. */
int show_export(const struct verdicts *v, const struct race_runs *runs, const struct show_how *how,
		int (*export)(FILE *out, const struct export_run *run, struct err *err), struct err *err);

/*
 * Write the document of `l` to standard output, with the races as they are now and a verdict for each. `v` must be in the order
 * of `l`. Returns 0, or -1 when memory ran out. A write error stays in the stream.
 */
int show_json(struct verdicts *v, struct report_load *l, struct err *err);

#endif
