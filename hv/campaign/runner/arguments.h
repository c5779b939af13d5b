/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of a run. */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_ARGUMENTS_H
#define OUTRIDER_CAMPAIGN_RUNNER_ARGUMENTS_H

#include "hv/base/err.h"
#include "hv/campaign/runner/job.h"

/*
 * The words of the command line of the run, which is about to be started, and which NULL ends. One block of memory from
 * malloc() has the list and the words. Returns NULL with err set when memory ran out.
 */
char **arguments_make(const struct job *j, const struct job_config *config, struct err *err);

/* The line for a shell that repeats it, from malloc(); or NULL with err set. It begins with `cd`, as files may be
 * relative, and ends with a newline. */
char *arguments_quote(char *const *argv, struct err *err);

#endif
