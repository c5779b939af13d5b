/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints judged races for `outrider report`, as text or in another format. */
#ifndef OUTRIDER_CLI_REPORT_SHOW_H
#define OUTRIDER_CLI_REPORT_SHOW_H

#include "hv/cli/fail_on.h"
#include "pruner/groups.h"
#include "pruner/verdicts.h"
#include "hv/export/export.h"
#include "hv/cli/race_files.h"
#include "hv/report/json/load.h"
#include "hv/report/listing.h"
#include "symbols/files/debug_images.h"

struct show_how {
	/* The debug files from which the names come. NULL: no debug files were read. */
	const struct debug_images *images;
	/* Disassembles the nearby instructions. NULL: the code is shown as bytes. */
	struct listing_maker *listing;
	/* Show every race in full. */
	bool all;
	/* Fold lines at this number of characters. 0: do not fold. */
	unsigned width;
	/* Standard output is a terminal with colours, possibly by way of a pager. */
	bool colour;
	/* The options that select the races that make the command fail. Only show_export() uses this. */
	const struct fail_on *fail_on;
};

/*
 * Print the races as text, in the order of `groups`. The facts of the runs come first, then the totals. The lead of each group
 * that is not folded is shown in full, with the group's other races in a line each. Then each folded group is one line with its
 * evidence. If all races are to be shown in full, they are in the order of `v`. The table of groups comes last. `store` and `v`
 * must have the same races, and `groups` must be of `v`.
 */
void show_text(const struct verdicts *v, const struct groups *groups, const struct race_store *store,
	       const struct race_runs *runs, const struct show_how *how);

/* Print a suppression for each group that show_text() would show in full. The user fills in the reasons. */
void show_suppressions(const struct groups *groups, const struct show_how *how);

/*
 * Write the races to standard output in the format of `export`, in the order of `groups` if the format has one entry for a
 * group, else in the order of `v`. Returns 0, or -1 if memory runs out.
 */
int show_export(const struct verdicts *v, const struct groups *groups, const struct race_runs *runs, const struct show_how *how,
		int (*export)(FILE *out, const struct export_run *run, struct err *err), struct err *err);

/*
 * Write the document of `l` to standard output, with the races in their present state, a verdict for each, and the list of
 * groups. `v` must be in the order of `l`. Returns 0, or -1 if memory runs out. A write error stays recorded in the stream.
 */
int show_json(struct verdicts *v, struct report_load *l, struct err *err);

#endif
