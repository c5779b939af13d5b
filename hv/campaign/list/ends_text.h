/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes clauses about how runs ended, the same for all lists of runs. A write error stays in the stream. */
#ifndef OUTRIDER_CAMPAIGN_LIST_ENDS_TEXT_H
#define OUTRIDER_CAMPAIGN_LIST_ENDS_TEXT_H

#include <stdio.h>

#include "hv/campaign/store/store.h"

/* Write ", 2 broke, 3 failed (2 left no report, 1 sampled nothing)", or nothing if all runs are ok. */
void list_ends_put(FILE *out, const struct store_ends *ends);

/* Write "2 left no report, 1 sampled nothing": why runs failed. */
void list_failures_put(FILE *out, const struct store_ends *ends);

#endif
