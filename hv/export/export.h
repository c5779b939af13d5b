/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes races in the formats of other tools. Each function writes a whole document to a stream. The caller checks for write
 * errors, by ferror() or fclose().
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
#include "pruner/groups.h"
#include "pruner/rules/rule.h"

enum export_level {
	EXPORT_HARMFUL, /* a maintainer should look at the race */
	EXPORT_UNSURE,	/* the verdict is "unclear", or the race was not judged */
	EXPORT_BENIGN,	/* a rule explains why the race is harmless, or finds that it is synchronisation */
};

/* Returns the level of a race whose verdict has this class. */
enum export_level export_level_of(enum verdict_class class);

/* A race and its verdict. The caller owns the strings. */
struct export_race {
	const struct race *race;
	enum export_level level;
	const char *verdict; /* the verdict in one or two words; NULL: no verdict was requested */
	int rank;	     /* 0 to 99; higher comes first */
	bool folded;	     /* print in short: likely no bug, or suppressed; false if the user asked for all races in full */
	/* the entry of rule_table[] for the rule that decided the verdict; NULL: no verdict was requested */
	const struct rule *rule;
	const char *evidence;	 /* a sentence, or NULL */
	bool fails;		 /* the race makes the command fail if --fail-on is given */
	const char *suppression; /* the reason in the user's suppressions; NULL: not suppressed */
};

struct export_run {
	const char *tool_version;
	const char *kernel; /* the kernel's version line; NULL: unknown */
	/* The runs that the races are from. Run number n (race_store_begin_run()) is runs[n - 1]. */
	const struct run_facts *runs;
	size_t run_count;
	const struct export_race *races; /* in the order of output */
	size_t count;
	/*
	 * The groups of `races`, in the order of output. Formats with one entry for a group need them; a format with an entry
	 * for each race does not. NULL: there are none.
	 */
	const struct groups *groups;
	/* Suspicions, for a section of their own. NULL: no run followed locks. */
	const struct lock_chart *locks;
	/* Doubts about a run (enum run_doubt) that the user does not count as failures: the bit 1u << doubt is set for each. */
	unsigned excused;
	bool suspicions_fail;  /* a suspicion makes the command fail, if --fail-on is given */
	bool atomicities_fail; /* a suspicion of kind SUSPICION_ATOMICITY makes the command fail, if --fail-on is given */
	bool complaints_fail;  /* a complaint of the guest's kernel makes the command fail */
	struct listing_maker *listing; /* disassembles code; NULL: code is written as bytes */
};

/* Each of the following functions returns 0, or -1 with EXIT_INTERNAL if memory runs out. */

/* Write SARIF 2.1.0 (OASIS), for code review and scanning tools. */
int export_sarif(FILE *out, const struct export_run *run, struct err *err);

/*
 * Write JUnit XML, for continuous integration. Each group of races is a test case. The case has failed if the group's lead has
 * `fails`, and is skipped if the lead is suppressed.
 */
int export_junit(FILE *out, const struct export_run *run, struct err *err);

/*
 * Write the format of the kernel's own reports (Documentation/dev-tools/kcsan.rst), for parsers of kernel logs. The document
 * names Outrider as the reporter and has the verdict in an extra line. Omits folded races.
 */
int export_kcsan(FILE *out, const struct export_run *run, struct err *err);

/* Write one HTML page without external scripts or styles, readable without scripts. */
int export_html(FILE *out, const struct export_run *run, struct err *err);

/*
 * Write a mail about a race to the kernel's maintainers, beginning with its Subject: line, in the form that the kernel's lists
 * require: plain text in 72 columns. The sender must replace EXPORT_UPSTREAM_TO_FILL_IN by the consequences of the race.
 */
#define EXPORT_UPSTREAM_TO_FILL_IN "[Say here what this race leads to, and how you would mend it, before you send this mail.]"
int export_upstream(FILE *out, const struct export_run *run, struct err *err);

#endif
