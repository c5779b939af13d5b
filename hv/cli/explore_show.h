/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the result of `outrider explore` on standard output. */
#ifndef OUTRIDER_CLI_EXPLORE_SHOW_H
#define OUTRIDER_CLI_EXPLORE_SHOW_H

#include <limits.h>

#include "hv/explore/explore.h"

/* Print the result as text. */
void explore_show(const struct explore_config *config, const struct explore_result *r);

/* Print the result as JSON, as docs/explore.schema.json describes it. Returns 0, or -1 with `err` set. */
int explore_show_json(const struct explore_config *config, const struct explore_result *r, struct err *err);

/* Returns the number of trials per minute, or 0 if there was no trial. */
double explore_trials_per_minute(const struct explore_result *r);

#define EXPLORE_PATH_MAX (PATH_MAX + EXPLORE_FILE_MAX)

/* Write the path of the trial's scenario. */
void explore_scenario(const struct explore_config *config, const struct explore_trial *t, char out[EXPLORE_PATH_MAX]);

#define EXPLORE_CALL_MAX 32

/* Write the name of the system call with this number, or the number if it has no name. */
void explore_call_name(int number, char out[EXPLORE_CALL_MAX]);

#define EXPLORE_SITE_MAX 256

/* Write the place of the side's access: "function+0x5 [module]", or the address if the function is unknown. */
void explore_site(const struct explore_side *side, char out[EXPLORE_SITE_MAX]);

#endif
