/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that a store knows of one race, over all builds of the kernel and all rounds. */
#ifndef OUTRIDER_CAMPAIGN_LIST_STORY_H
#define OUTRIDER_CAMPAIGN_LIST_STORY_H

#include <stdio.h>

#include "hv/campaign/list/list.h"
#include "hv/campaign/list/subsystem.h"
#include "hv/campaign/store/store.h"

struct story;

/*
 * Ask the store for the race with the id `race`. `subsystems` may be NULL. NULL with err set: the store cannot be read, or
 * memory ran out.
 */
struct story *story_get(struct store *store, int64_t race, const struct subsystems *subsystems, const char *version,
			struct err *err);
void story_free(struct story *s);

/*
 * Write the race for people: what it is, what was said of it, where and when it was seen, and the whole report of the run that
 * saw it last. A write error stays in the stream. Returns 0, or -1 with err set: memory ran out, or the report that the store
 * has is no race.
 */
int story_text(FILE *out, const struct story *s, const struct list_style *style, struct err *err);

/* Write the document outrider-campaign-race/1, as docs/campaigns.md has it. Returns as story_text() does. */
int story_json(FILE *out, const struct story *s, struct err *err);

#endif
