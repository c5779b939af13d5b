/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the file of --coverage: the counts of each site, as JSON (docs/coverage-format.md). Each write replaces the whole
 * document, which is complete and valid at all times, as hv/report/json/file.h describes.
 *
 * No locks: one thread at a time uses a file.
 */
#ifndef OUTRIDER_REPORT_COVERAGE_WRITE_H
#define OUTRIDER_REPORT_COVERAGE_WRITE_H

#include "hv/base/err.h"
#include "hv/race/coverage.h"
#include "hv/race/stats.h"

#define COVERAGE_SCHEMA "outrider-coverage/1"

/* The file's data apart from the functions. */
struct coverage_facts {
	const char *tool_version;
	uint64_t seed;
	/* Build id of the guest's kernel. Length 0: unknown. */
	const uint8_t *build_id;
	size_t build_id_len;
	struct detect_stats stats;
	/* The run has ended. */
	bool complete;
};

struct coverage_file;

/* Create the file for a run that has sampled nothing yet. Returns NULL with err set: EXIT_INPUT if it cannot be created. */
struct coverage_file *coverage_file_create(const char *path, const struct coverage_facts *facts, struct err *err);

/*
 * Replace the document by the current content of `coverage`. On failure, for example on a full disk, the old document remains.
 * Returns 0, or -1 with err set.
 */
int coverage_file_write(struct coverage_file *f, const struct coverage_facts *facts, struct coverage *coverage,
			struct err *err);

/* Close and free the file. `f` may be NULL. */
void coverage_file_close(struct coverage_file *f);

#endif
