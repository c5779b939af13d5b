/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far the round is, as one line on a terminal that is written over, and nothing elsewhere. One thread. */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_PROGRESS_H
#define OUTRIDER_CAMPAIGN_RUNNER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown; /* Standard error is a terminal, and nobody asked for quiet. */
	bool quiet;
	unsigned width; /* of the line that stands there */
	uint64_t last_ns;
};

struct progress_figures {
	unsigned done, planned, running, findings;
	uint64_t hits, races, fresh;
	uint64_t left_ns; /* UINT64_MAX: it is not known */
};

void progress_begin(struct progress *p, bool quiet);

/* Whether it is time to show figures again. */
bool progress_is_due(struct progress *p);
void progress_show(struct progress *p, const struct progress_figures *f);

/* Print a line for the user on standard error, above the line of progress. It may have anybody's text. */
void progress_say(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void progress_end(struct progress *p);

#endif
