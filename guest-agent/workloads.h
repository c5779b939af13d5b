/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of the agent's workloads, and the search for a workload by its name. */
#ifndef OUTRIDER_WORKLOADS_H
#define OUTRIDER_WORKLOADS_H

#include <stdbool.h>
#include <stdio.h>

#include "agent.h"

/* Returns the workload that `word`, "NAME" or "NAME:ARGS", names, or NULL. Sets *args to what follows the colon, or to "". */
const struct workload *workload_find(const char *word, const char **args);

/* Print a line that describes each workload. */
void workloads_print(FILE *out);

/* Returns the workload at `index`, counted from 0, or NULL after the last one. */
const struct workload *workload_at(size_t index);

#endif
