/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a run: its outcome, and its findings that are no races. The runner keeps it as the file `status` in the run's
 * folder, so that it is not lost if the runner dies or the store cannot be written. Only ending_write() and ending_read() do
 * I/O.
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
	char line[ENDING_LINE_MAX]; /* the first line of output that shows the finding, printable */
	char file[32];		    /* name of the file in the run's folder with the details, or "" */
};

struct ending {
	enum store_outcome outcome;
	char detail[ENDING_LINE_MAX];
	int64_t started, ended; /* milliseconds since 1970 */
	struct ending_finding findings[ENDING_FINDINGS_MAX];
	unsigned finding_count;
};

/*
 * Add a finding, unless the list has the same kind and line already, or is full. The most serious finding sets the outcome,
 * even if the list has no room for it. `line` is not trusted: unprintable bytes become \xHH, and it is cut if it is longer than
 * struct ending_finding.line.
 */
void ending_add(struct ending *e, enum store_outcome kind, const char *file, const char *line);

/* Returns whether there is a finding of this kind. */
bool ending_has(const struct ending *e, enum store_outcome kind);

/* Write the file `status` to the folder. Returns 0, or -1 with err set. */
int ending_write(const struct ending *e, const char *folder, struct err *err);

/* Read the file `status`. Returns false if it does not exist or is invalid. */
bool ending_read(struct ending *e, const char *folder);

#endif
