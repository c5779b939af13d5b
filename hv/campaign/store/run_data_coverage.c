// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a run's coverage file into a struct run_data. The file is not trusted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/run_data.h"
#include "hv/campaign/store/run_file.h"
#include "hv/report/coverage/read.h"

/* State while a coverage file is read. */
struct reading {
	struct run_data *d;
	const char *path;
	FILE *out; /* writes to d->coverage */
};

/*
 * Take the run's kernel and counters from the coverage file, unless the run's report was read before: then the report's values
 * are kept.
 */
static int take_summary(void *ctx, const struct coverage_summary *summary, struct err *err)
{
	struct reading *r = ctx;
	struct run_data *d = r->d;

	if (d->build_id[0] && summary->build_id[0] && strcmp(d->build_id, summary->build_id) != 0)
		return err_set(err, EXIT_INPUT,
			       "%s: the coverage is of the kernel %.40s, but the run's report is of the kernel %s", r->path,
			       summary->build_id, d->build_id);
	if (!d->build_id[0])
		d->build_id = text_copy(d->text, summary->build_id);
	d->pool = (int64_t)summary->pool_sites;
	if (d->sampled_ns)
		return 0;
	d->hits = (int64_t)summary->hits;
	d->windows = (int64_t)summary->windows;
	d->conflicts = (int64_t)summary->conflicts;
	d->sampled_ns = (int64_t)summary->sampled_ns;
	return 0;
}

static int take_function(void *ctx, const struct coverage_function *function, struct err *err)
{
	struct reading *r = ctx;

	/* Refuse a name with a blank, which separates the name from the numbers in the run's text. No symbol has a blank. */
	if (strchr(function->name, ' '))
		return err_set(err, EXIT_INPUT, "%s: the name of the function \"%.80s\" has a blank", r->path, function->name);
	for (size_t i = 0; i < function->count; i++) {
		const struct coverage_site *site = &function->armed[i];

		fprintf(r->out, "%s+0x%" PRIx32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
			function->name, site->offset, site->counts.armed, site->counts.hits, site->counts.windows,
			site->counts.conflicts, site->counts.talks);
	}
	return 0;
}

int run_data_read_coverage(struct run_data *d, const char *path, struct err *err)
{
	struct reading r = {.d = d, .path = path};
	const struct coverage_taker taker = {.summary = take_summary, .function = take_function, .ctx = &r};
	struct run_file file;
	int rc;

	if (run_file_open(&file, path, err) < 0)
		return -1;
	r.out = open_memstream(&d->coverage.text, &d->coverage.len);
	if (!r.out) {
		run_file_close(&file);
		return err_set(err, EXIT_INTERNAL, "out of memory");
	}
	rc = coverage_read(file.name, &taker, err);
	if (rc < 0)
		run_file_explain(&file, err);
	run_file_close(&file);
	/* fclose() can only fail if memory ran out: the stream is in memory. */
	if (fclose(r.out) != 0 && rc == 0)
		rc = err_set(err, EXIT_INTERNAL, "out of memory");
	if (rc == 0 && text_failed(d->text, err))
		rc = -1;
	return rc;
}
