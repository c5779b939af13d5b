/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts the complaints of the guest's kernel in a run's report to findings. The run's console may show the same complaints.
 * The report's complaints are preferred: they exist even if the console is quiet, and they name the place in the kernel. Only
 * hv/campaign/store/ uses this header.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_COMPLAINTS_H
#define OUTRIDER_CAMPAIGN_STORE_COMPLAINTS_H

#include "hv/campaign/store/run_data.h"
#include "hv/report/run_facts.h"

/* Copy the complaints of a report into `d`. Returns 0, or -1 with EXIT_INTERNAL. */
int complaints_take(struct run_data *d, const struct run_complaints *from, struct err *err);

/*
 * Returns whether a complaint of the report is the same event as this finding, which was made from the console or from
 * Outrider's messages.
 */
bool complaints_say(const struct run_data *d, const struct store_finding *finding);

/* Returns the most serious complaint, or NULL if there is none. */
const struct run_data_complaint *complaints_worst(const struct run_data *d);

#endif
