/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which lock protects what, in the forms of `outrider locks`: broken assertions and suspicions first, then each variable,
 * struct and cache with its members. A write error stays in the stream.
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
	/* The files that the chart is of. */
	const char *const *files;
	size_t file_count;
	/* Checked against the same files. NULL: there are none. */
	const struct assertions *assertions;
	/* Text and HTML list data too that were accessed under no lock at all, or only read since they were shared. */
	bool all;
};

/* Each returns 0, or -1 with EXIT_INTERNAL when memory ran out. */
int export_locks_text(FILE *out, const struct export_locks *locks, struct err *err);
int export_locks_json(FILE *out, const struct export_locks *locks, struct err *err);
int export_locks_html(FILE *out, const struct export_locks *locks, struct err *err);

/* Whether text and HTML list the datum. */
bool export_locks_shows(const struct export_locks *locks, const struct chart_datum *d);

/* What came of aiming at both sites of the suspicion, as a sentence without a full stop. "": nothing is known. */
#define EXPORT_PROOF_MAX 160
void export_proof(const struct suspicion *s, char out[EXPORT_PROOF_MAX]);

#endif
