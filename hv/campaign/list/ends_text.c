// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/list/ends_text.h"

#include <inttypes.h>

void list_failures_put(FILE *out, const struct store_ends *ends)
{
	static const char *const phrases[STORE_OUTCOMES] = {
		[STORE_FAILED] = "did not run properly",
		[STORE_NO_REPORT] = "left no report",
		[STORE_TRUNCATED] = "left a truncated report",
		[STORE_UNSAMPLED] = "sampled nothing",
	};
	const char *before = "";

	for (int i = 0; i < STORE_OUTCOMES; i++) {
		if (!ends->of_failure[i] || !phrases[i])
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, ends->of_failure[i], phrases[i]);
		before = ", ";
	}
}

void list_ends_put(FILE *out, const struct store_ends *ends)
{
	if (ends->broke)
		fprintf(out, ", %" PRIu64 " broke", ends->broke);
	if (!ends->failed)
		return;
	fprintf(out, ", %" PRIu64 " failed (", ends->failed);
	list_failures_put(out, ends);
	fputc(')', out);
}
