/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks --only NAME[,NAME...], by which the commands that execute the runs of a campaign execute only the named runs. */
#ifndef OUTRIDER_CLI_CAMPAIGN_ONLY_H
#define OUTRIDER_CLI_CAMPAIGN_ONLY_H

#include "hv/base/err.h"
#include "hv/campaign/plan/plan.h"

/*
 * Check that each NAME of --only selects a run. `only` may be NULL. Returns 0, or -1 with EXIT_USAGE and a message that names
 * the first NAME that selects none, and a similar name if there is one. `path` is the campaign file, for the message.
 */
int campaign_check_only(const struct plan_runs *runs, const char *only, const char *path, struct err *err);

#endif
