/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Complaints of a run's report as findings of the run. The run's console may show the same complaints: what the report says of
 * them is better, because it is there for a quiet console, too, and names the place. Only hv/campaign/store/ uses this header.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_COMPLAINTS_H
#define OUTRIDER_CAMPAIGN_STORE_COMPLAINTS_H

#include "hv/campaign/store/run_data.h"
#include "hv/report/run_facts.h"

/* Take the complaints of a report. Returns 0, or -1 with EXIT_INTERNAL. */
int complaints_take(struct run_data *d, const struct run_complaints *from, struct err *err);

/* Returns whether the report's complaints say what this finding of the run's console or messages says. */
bool complaints_say(const struct run_data *d, const struct store_finding *finding);

/* Returns the most serious complaint, or NULL if there is none. */
const struct run_data_complaint *complaints_worst(const struct run_data *d);

#endif
