/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exports write races in the forms that other tools take. Each export is written whole to a stream. A write error stays in the
 * stream, and the caller looks for it once, by ferror() or fclose().
 */
#ifndef OUTRIDER_EXPORT_EXPORT_H
#define OUTRIDER_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "hv/base/err.h"
#include "hv/race/store.h"
#include "hv/report/listing.h"
#include "hv/report/locks/chart.h"
#include "hv/report/run_facts.h"

enum export_level {
	EXPORT_HARMFUL, /* A maintainer should look at the race. */
	EXPORT_UNSURE,	/* Nothing has been said of the race. */
	EXPORT_BENIGN,	/* A rule says why the race does no harm, or that it is synchronisation. */
};

/* A race and its verdict. The caller owns the strings. */
struct export_race {
	const struct race *race;
	enum export_level level;
	const char *verdict;	 /* A word or two. NULL: no verdict was asked for. */
	int rank;		 /* 0 to 99: what weighs more comes first. */
	bool folded;		 /* The race is likely no bug, or is suppressed, and not all races were asked for in full. */
	const char *rule;	 /* The name of the rule that decided, which is fit for an id. NULL: no rule decided. */
	const char *evidence;	 /* A sentence, or NULL. */
	bool fails;		 /* The race makes the command fail, as --fail-on has it, or would if it were asked to. */
	const char *suppression; /* The reason that the user's suppressions give. NULL: the race is not suppressed. */
};

struct export_run {
	const char *tool_version;
	const char *kernel; /* The kernel's banner. NULL: it is not known. */
	/* What is known of each run that the races are from; run_count of them, as race_store_begin_run() numbered them. */
	const struct run_facts *runs;
	size_t run_count;
	const struct export_race *races; /* The races, in the order in which they are shown. */
	size_t count;
	/* What is suspected by the locks that were held, in a section of its own. NULL: no run followed locks. */
	const struct lock_chart *locks;
	struct listing_maker *listing; /* Makes instructions of code. NULL: code is shown as bytes. */
};

/* Each of the functions below returns 0, or -1 with EXIT_INTERNAL when memory ran out. */

/* SARIF 2.1.0 (OASIS), for code review and scanning tools. */
int export_sarif(FILE *out, const struct export_run *run, struct err *err);

/* JUnit XML, for continuous integration. A race that fails is a failed test case. A suppressed race is a skipped one. */
int export_junit(FILE *out, const struct export_run *run, struct err *err);

/*
 * The layout of the kernel's own reports (Documentation/dev-tools/kcsan.rst), which parsers of kernel logs take. It says that
 * Outrider reports, and in a line of its own what the race's verdict is. Folded races are left out.
 */
int export_kcsan(FILE *out, const struct export_run *run, struct err *err);

/* One HTML page. It needs no script or style from elsewhere, and it can be read without scripts. */
int export_html(FILE *out, const struct export_run *run, struct err *err);

/*
 * A mail to the kernel's maintainers about a race, from its Subject: line on, as the kernel's lists want it: plain text in 72
 * columns. What the race leads to is left for the sender to say, in place of EXPORT_UPSTREAM_TO_FILL_IN.
 */
#define EXPORT_UPSTREAM_TO_FILL_IN "[Say here what this race leads to, and how you would mend it, before you send this mail.]"
int export_upstream(FILE *out, const struct export_run *run, struct err *err);

#endif
