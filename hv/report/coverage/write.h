/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of --coverage: what was sampled of each site, as JSON (docs/coverage-format.md). It is written as a whole each time,
 * and is a complete, valid document at every moment, as hv/report/json/file.h describes.
 *
 * No locks: one thread at a time uses a file.
 */
#ifndef OUTRIDER_REPORT_COVERAGE_WRITE_H
#define OUTRIDER_REPORT_COVERAGE_WRITE_H

#include "hv/base/err.h"
#include "hv/race/coverage.h"
#include "hv/race/stats.h"

#define COVERAGE_SCHEMA "outrider-coverage/1"

/* What is written beside the functions. */
struct coverage_facts {
	const char *tool_version;
	uint64_t seed;
	/* Build id of the guest's kernel. A length of 0: it is not known. */
	const uint8_t *build_id;
	size_t build_id_len;
	struct detect_stats stats;
	/* The run is over. */
	bool complete;
};

struct coverage_file;

/* Create the file, of a run that has sampled nothing yet. NULL with err set: EXIT_INPUT when it cannot be created. */
struct coverage_file *coverage_file_create(const char *path, const struct coverage_facts *facts, struct err *err);

/*
 * Write the document anew, with what is in `coverage` now. When this fails, as on a full disk, the old document stays. Returns
 * 0, or -1 with err set.
 */
int coverage_file_write(struct coverage_file *f, const struct coverage_facts *facts, struct coverage *coverage,
			struct err *err);

/* NULL is allowed. */
void coverage_file_close(struct coverage_file *f);

#endif
