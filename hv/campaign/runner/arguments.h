/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of a run. */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_ARGUMENTS_H
#define OUTRIDER_CAMPAIGN_RUNNER_ARGUMENTS_H

#include "hv/base/err.h"
#include "hv/campaign/runner/job.h"

/*
 * Make the command line of a run that is about to start: a list of words, ended by NULL. The list and its words are one block
 * from malloc(). NULL with err set: out of memory.
 */
char **arguments_make(const struct job *j, const struct job_config *config, struct err *err);

/*
 * Make the shell line that repeats the run, from malloc(). It begins with `cd`, because file names can be relative, and ends
 * with a newline. NULL with err set: out of memory.
 */
char *arguments_quote(char *const *argv, struct err *err);

#endif
