/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Races in the forms that other tools take. Each export is written whole to a stream; write errors stay in the stream, for the
 * caller to look at once (ferror(), fclose()).
 */
#ifndef OUTRIDER_EXPORT_EXPORT_H
#define OUTRIDER_EXPORT_EXPORT_H

#include <stdio.h>

#include "hv/base/err.h"
#include "hv/race/store.h"

enum export_level {
	EXPORT_HARMFUL, /* a maintainer should look */
	EXPORT_UNSURE,	/* nobody has said anything */
	EXPORT_BENIGN,	/* a rule says why it does no harm, or that it is synchronisation */
};

/* A race and what was found of it. Strings are the caller's. */
struct export_race {
	const struct race *race;
	enum export_level level;
	const char *verdict;	 /* a word or two; NULL: none was asked for */
	const char *rule;	 /* the rule that decided, a name fit for an id; NULL: none did */
	const char *evidence;	 /* a sentence; may be NULL */
	const char *suppression; /* the reason that the user's suppressions give; NULL: not suppressed */
};

struct export_run {
	const char *tool_version;
	const char *kernel;		 /* banner; NULL: not known */
	const struct export_race *races; /* in the order they are to be shown */
	size_t count;
};

/* SARIF 2.1.0 (OASIS), for code review and scanning tools. 0, or -1 with EXIT_INTERNAL: out of memory. */
int export_sarif(FILE *out, const struct export_run *run, struct err *err);

/* JUnit XML, for continuous integration: a race that may be harmful is a failed test case, a suppressed one is skipped. */
int export_junit(FILE *out, const struct export_run *run, struct err *err);

/* The kernel's own report layout (Documentation/dev-tools/kcsan.rst), so that parsers of kernel logs take it. */
int export_kcsan(FILE *out, const struct export_run *run, struct err *err);

/* One page, complete in itself: no scripts or styles from elsewhere, readable without scripts. */
int export_html(FILE *out, const struct export_run *run, struct err *err);

#endif
