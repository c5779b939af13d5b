/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts that fill a list share. Only hv/campaign/list/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_LIST_FILLING_H
#define OUTRIDER_CAMPAIGN_LIST_FILLING_H

#include "hv/campaign/list/ask.h"
#include "hv/campaign/list/morning.h"
#include "hv/campaign/store/store.h"

struct filling {
	struct morning *m;
	struct store *store;
	const struct morning_ask *ask;
	struct store_rounds rounds; /* All of the campaign, the oldest first. */
	size_t from, to;	    /* In `rounds`: the first and the last round that are looked at. */
	size_t base;		    /* In `rounds`: what they are compared with. */
	bool has_base;
	struct store_races_query looked_at; /* The rounds from `from` to `to`, as the store is asked for them. */
	struct err *err;
};

/* Each fills one part of f->m. Returns 0, or -1 with f->err set. */
int fill_races(struct filling *f);
int fill_pair(struct filling *f);
int fill_rounds(struct filling *f);
int fill_coverage(struct filling *f);
int fill_findings(struct filling *f);

/* One race, with its builds where the list shows them. */
int fill_race(struct filling *f, const struct store_race *from, enum morning_change change, struct morning_race *r);

/* A class and a triage of the store's. Each verdict is by some rule: without one the race was not judged. */
enum morning_class fill_class(enum verdict_class class, const char *rule);
enum morning_triage fill_triage(enum store_triage triage);

/* A string of the store's, made printable; and one of a person's. NULL with f->err set: memory ran out. */
const char *fill_text(struct filling *f, const char *text);
const char *fill_line(struct filling *f, const char *text);

/* "2026-11-22T01:00:00Z" of milliseconds since 1970. "" of 0. */
const char *fill_time(struct filling *f, int64_t ms);

/* The release in a kernel's version line: "6.1.0-56-cloud-amd64", or "". */
const char *fill_release(struct filling *f, const char *banner);

#endif
