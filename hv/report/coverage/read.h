/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a file of --coverage, whose author is not trusted, a function at a time. Names are made printable. */
#ifndef OUTRIDER_REPORT_COVERAGE_READ_H
#define OUTRIDER_REPORT_COVERAGE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/race/coverage.h"

/* Hexadecimal digits of a build id, with the NUL. */
#define COVERAGE_BUILD_ID_MAX 129

/* What a file says beside the functions. */
struct coverage_summary {
	/* "" where it is not known. */
	char build_id[COVERAGE_BUILD_ID_MAX];
	/* The run was over when the file was written. */
	bool complete;
	uint64_t seed;
	/* How many sites the pool has, as estimated by the run. */
	uint64_t pool_sites;
	uint64_t hits, windows, conflicts;
	/* For how long the run sampled. */
	uint64_t sampled_ns;
};

struct coverage_taker {
	/* The summary, before the first function. Returns 0, or -1 with err set to end the reading. */
	int (*summary)(void *ctx, const struct coverage_summary *summary, struct err *err);
	/* A function with a site that was armed, in the file's order. Valid during the call. Returns as summary() does. */
	int (*function)(void *ctx, const struct coverage_function *function, struct err *err);
	void *ctx;
};

/* Returns 0, or -1 with err set: EXIT_INPUT when it is no such file, or what the taker has set. */
int coverage_read(const char *path, const struct coverage_taker *taker, struct err *err);

#endif
