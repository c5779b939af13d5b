/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The round's progress: one line on a terminal, overwritten each second. The line is not shown if standard error is no
 * terminal. Not thread-safe.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_PROGRESS_H
#define OUTRIDER_CAMPAIGN_RUNNER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown; /* Standard error is a terminal, and --quiet is not set. */
	bool quiet;
	unsigned width; /* characters of the line on the terminal */
	uint64_t last_ns;
};

struct progress_figures {
	unsigned done, planned, running, broke;
	uint64_t hits, races, fresh;
	uint64_t left_ns; /* nanoseconds; UINT64_MAX: unknown */
};

void progress_begin(struct progress *p, bool quiet);

/* Returns whether a second has passed since the line was last shown. */
bool progress_is_due(struct progress *p);
void progress_show(struct progress *p, const struct progress_figures *f);

/* Print a message for the user on standard error, above the progress line. Its text may come from an untrusted source. */
void progress_say(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void progress_end(struct progress *p);

#endif
