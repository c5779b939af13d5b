/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the state of a campaign: which runs are running, how many are left, and what the latest rounds found. */
#ifndef OUTRIDER_CAMPAIGN_LIST_STATUS_H
#define OUTRIDER_CAMPAIGN_LIST_STATUS_H

#include <stdio.h>

#include "hv/base/err.h"
#include "hv/campaign/store/store.h"

struct status;

/*
 * Read the last two rounds of the campaign of this name. `campaign` NULL: the campaign whose round started last. Free the
 * result with status_free(). Returns NULL with err set if there is no round, the store cannot be read, or memory runs out.
 */
struct status *status_get(struct store *store, const char *campaign, struct err *err);
void status_free(struct status *s);

/* Write text for a terminal, folded at `width` characters (0: 100). A write error stays in the stream. */
void status_text(FILE *out, const struct status *s, unsigned width);

/*
 * Write the document outrider-campaign-status/1, which docs/campaigns.md describes. Returns 0, or -1 with err set if memory
 * runs out.
 */
int status_json(FILE *out, const struct status *s, struct err *err);

#endif
