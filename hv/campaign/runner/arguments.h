/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the command line of a run of a campaign, and the shell command that repeats the run. */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_ARGUMENTS_H
#define OUTRIDER_CAMPAIGN_RUNNER_ARGUMENTS_H

#include "hv/base/err.h"
#include "hv/campaign/runner/job.h"

/*
 * Returns the command line of a run that is about to start: a list of words, ended by NULL. The list and its words are one
 * block from malloc(). Returns NULL with err set if memory runs out.
 */
char **arguments_make(const struct job *j, const struct job_config *config, struct err *err);

/*
 * Returns the shell line that repeats the run, from malloc(). It begins with `cd`, because file names can be relative, and ends
 * with a newline. Returns NULL with err set if memory runs out.
 */
char *arguments_quote(char *const *argv, struct err *err);

#endif
