/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A race history: all facts in a store about one race, over all kernel builds and rounds. */
#ifndef OUTRIDER_CAMPAIGN_LIST_RACE_HISTORY_H
#define OUTRIDER_CAMPAIGN_LIST_RACE_HISTORY_H

#include <stdio.h>

#include "hv/campaign/list/list.h"
#include "hv/campaign/list/subsystem.h"
#include "hv/campaign/store/race_runs.h"
#include "hv/campaign/store/store.h"

struct race_history;

/*
 * Read the history of the race with the id `race`. `subsystems` may be NULL. Free the result with race_history_free(). Returns
 * NULL with err set if the store cannot be read or no longer has the race, if the race's record is not JSON, or if memory runs
 * out.
 */
struct race_history *race_history_get(struct store *store, int64_t race, const struct subsystems *subsystems,
				      const char *version, struct err *err);
void race_history_free(struct race_history *s);

/*
 * Write text for a terminal: the race, its triage, builds and rounds, and the whole report from the run that saw the race last.
 * A write error stays in the stream. Returns 0, or -1 with err set if memory runs out or the stored report is not valid.
 */
int race_history_text(FILE *out, const struct race_history *s, const struct list_style *style, struct err *err);

/*
 * Write one HTML page, which loads no other file. `runs` are the runs that saw this race. Returns as race_history_text() does.
 */
int race_history_html(FILE *out, const struct race_history *s, const struct store_race_runs *runs, struct err *err);

/* Write the document outrider-campaign-race/1, which docs/campaigns.md describes. Returns as race_history_text() does. */
int race_history_json(FILE *out, const struct race_history *s, struct err *err);

#endif
