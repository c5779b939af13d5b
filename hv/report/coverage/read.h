/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a file that --coverage wrote, the coverage of one function at a time. The file is untrusted. Names are made printable.
 */
#ifndef OUTRIDER_REPORT_COVERAGE_READ_H
#define OUTRIDER_REPORT_COVERAGE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/race/coverage.h"

/* Hexadecimal digits of a build id, and the NUL. */
#define COVERAGE_BUILD_ID_MAX 129

/* The file's data apart from the functions. */
struct coverage_summary {
	/* "" if unknown. */
	char build_id[COVERAGE_BUILD_ID_MAX];
	/* The run had ended when the file was written. */
	bool complete;
	uint64_t seed;
	/* Number of sites in the pool, as the run estimated. */
	uint64_t pool_sites;
	uint64_t hits, windows, conflicts;
	/* Sampling time in nanoseconds. */
	uint64_t sampled_ns;
};

struct coverage_taker {
	/* Called with the summary, before the first function. Returns 0, or -1 with err set to stop reading. */
	int (*summary)(void *ctx, const struct coverage_summary *summary, struct err *err);
	/*
	 * Called for each function with an armed site, in file order. `function` is valid only during the call. Returns 0, or
	 * -1 with err set to stop reading.
	 */
	int (*function)(void *ctx, const struct coverage_function *function, struct err *err);
	void *ctx;
};

/*
 * Read the file at `path`, and pass its contents to `taker`. Returns 0, or -1 with err set: EXIT_INPUT if the file is not
 * valid, or the error that a callback has set.
 */
int coverage_read(const char *path, const struct coverage_taker *taker, struct err *err);

#endif
