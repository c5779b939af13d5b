/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs now, what is left to do, and what the latest rounds found. */
#ifndef OUTRIDER_CAMPAIGN_LIST_STATUS_H
#define OUTRIDER_CAMPAIGN_LIST_STATUS_H

#include <stdio.h>

#include "hv/base/err.h"
#include "hv/campaign/store/store.h"

struct status;

/*
 * Ask for the last two rounds of a campaign, or for NULL of the one whose round was started last. NULL with err set: there is
 * no round, the store cannot be read, or memory ran out.
 */
struct status *status_get(struct store *store, const char *campaign, struct err *err);
void status_free(struct status *s);

/* For people, in lines of 100 characters or `width` where it is not 0. A write error stays in the stream. */
void status_text(FILE *out, const struct status *s, unsigned width);

/* The document outrider-campaign-status/1, as docs/campaigns.md has it. Returns 0, or -1 when memory ran out. */
int status_json(FILE *out, const struct status *s, struct err *err);

#endif
