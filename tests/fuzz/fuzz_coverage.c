// SPDX-License-Identifier: GPL-2.0-or-later
/* A file of --coverage that anybody may have written. */
#include <string.h>

#include "hv/report/coverage/read.h"
#include "tests/fuzz/fuzz.h"

static int take_summary(void *ctx, const struct coverage_summary *summary, struct err *err)
{
	(void)ctx;
	(void)err;
	fuzz_require(strlen(summary->build_id) < COVERAGE_BUILD_ID_MAX);
	return 0;
}

static int take_function(void *ctx, const struct coverage_function *function, struct err *err)
{
	(void)err;
	fuzz_require(function->count <= function->room);
	fuzz_require(strlen(function->name) < SITE_NAME_MAX);
	for (size_t i = 0; i < function->count; i++)
		*(uint64_t *)ctx += function->armed[i].counts.hits;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	uint64_t hits = 0;
	const struct coverage_taker taker = {take_summary, take_function, &hits};
	struct err err = {0};

	if (coverage_read(fuzz_file(&file, data, size), &taker, &err))
		fuzz_refused(&err);
	return 0;
}
