/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a run ended: one outcome, and what was found on the way that is no race. It is kept in the run's folder as the file
 * `status`, so that it outlives this process and a store that is away. Pure functions, but for the file.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_ENDING_H
#define OUTRIDER_CAMPAIGN_RUNNER_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/campaign/store/store.h"

#define ENDING_FINDINGS_MAX 16
#define ENDING_LINE_MAX 256

struct ending_finding {
	enum store_outcome kind;
	char line[ENDING_LINE_MAX]; /* the first line that says so, printable */
	char file[32];		    /* the name of the file in the run's folder that has more, or "" */
};

struct ending {
	enum store_outcome outcome;
	char detail[ENDING_LINE_MAX];
	int64_t started, ended; /* milliseconds since 1970 */
	struct ending_finding findings[ENDING_FINDINGS_MAX];
	unsigned finding_count;
};

/*
 * Add a finding, unless there is one of this kind with this line, or there are ENDING_FINDINGS_MAX. The outcome becomes that of
 * the weightiest finding. `line` may be anybody's text; what is not printable is shown as \xHH.
 */
void ending_add(struct ending *e, enum store_outcome kind, const char *file, const char *line);

/* Whether there is a finding of this kind. */
bool ending_has(const struct ending *e, enum store_outcome kind);

/* Write the file `status` of the folder. Returns 0, or -1 with EXIT_INPUT. */
int ending_write(const struct ending *e, const char *folder, struct err *err);

/* Read it. Returns false when there is none, or it is not right. */
bool ending_read(struct ending *e, const char *folder);

#endif
