/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that fill a round summary share. Only hv/campaign/list/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_LIST_FILL_INTERNAL_H
#define OUTRIDER_CAMPAIGN_LIST_FILL_INTERNAL_H

#include "hv/campaign/list/query.h"
#include "hv/campaign/list/summary.h"
#include "hv/campaign/store/store.h"

struct fill {
	struct summary *m;
	struct store *store;
	const struct summary_query *query;
	struct store_rounds rounds; /* All rounds of the campaign, oldest first. */
	size_t from, to;	    /* Indices in `rounds`: the first and the last selected round. */
	size_t base;		    /* Index in `rounds`: the base round (summary.h), if has_base is set. */
	bool has_base;
	struct store_races_query selected; /* The query for the selected rounds. */
	struct err *err;
};

/* Each of these functions fills the part of the summary f->m that its name says. Returns 0, or -1 with f->err set. */
int fill_races(struct fill *f);
int fill_pair(struct fill *f);
int fill_rounds(struct fill *f);
int fill_ends(struct fill *f);
int fill_coverage(struct fill *f);
int fill_findings(struct fill *f);
/* Fills in f->m->bugs. Call it after summary_sort(), since each bug points to its race. Returns as the functions above do. */
int fill_bugs(struct fill *f);

/*
 * Fill in *r with the race *from of the store. `change` says how the race changed since the earlier rounds. Reads the builds of
 * the race only if the summary shows them. Returns 0, or -1 with f->err set.
 */
int fill_race(struct fill *f, const struct store_race *from, enum store_change change, struct summary_race *r);

/*
 * Returns the summary's class for the class and rule of a verdict in the store. An empty rule means that the race was not
 * judged.
 */
enum summary_class fill_class(enum verdict_class class, const char *rule);

/*
 * Copy a string into the summary, made printable: fill_text() for text of guests, fill_line() for text of users. If memory runs
 * out, these functions and the two below return "" and set f->err, which is checked when all is filled in.
 */
const char *fill_text(struct fill *f, const char *text);
const char *fill_line(struct fill *f, const char *text);

/* Returns milliseconds since 1970 as "2026-11-22T01:00:00Z", and 0 as "". */
const char *fill_time(struct fill *f, int64_t ms);

/* Returns the release in a kernel's version line, "6.1.0-56-cloud-amd64", or "" if there is none. */
const char *fill_release(struct fill *f, const char *banner);

#endif
