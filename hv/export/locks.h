/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outputs of `outrider locks`: first broken assertions and suspicions, then each variable, struct and cache with its
 * members and their locks. The caller checks the stream for errors.
 */
#ifndef OUTRIDER_EXPORT_LOCKS_H
#define OUTRIDER_EXPORT_LOCKS_H

#include <stdio.h>

#include "hv/base/err.h"
#include "hv/report/locks/chart.h"
#include "hv/race/assertion.h"

struct export_locks {
	const char *tool_version;
	const struct lock_chart *chart;
	/* The files that the chart was made from. */
	const char *const *files;
	size_t file_count;
	/* The user's assertions, already checked against the same files. NULL: no assertions were given. */
	const struct assertions *assertions;
	/* In text and HTML, also list data without any access under a lock, and data that were only read since publication. */
	bool all;
};

/*
 * Write the output of `outrider locks` as text, JSON or HTML. Each of these three functions returns 0, or -1 with EXIT_INTERNAL
 * if memory runs out.
 */
int export_locks_text(FILE *out, const struct export_locks *locks, struct err *err);
int export_locks_json(FILE *out, const struct export_locks *locks, struct err *err);
int export_locks_html(FILE *out, const struct export_locks *locks, struct err *err);

/* Returns true if the text and HTML outputs list the datum. */
bool export_locks_shows(const struct export_locks *locks, const struct chart_datum *d);

#endif
