// SPDX-License-Identifier: GPL-2.0-or-later
/* What a run covered, of its file, which is not trusted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/digest.h"
#include "hv/report/coverage/read.h"

/* A coverage file on its way into a digest. */
struct reading {
	struct digest *d;
	const char *path;
	FILE *out; /* to d->cover */
};

/* The report knows the kernel and the figures as well, unless there is none, and has the last word. */
static int take_summary(void *ctx, const struct coverage_summary *summary, struct err *err)
{
	struct reading *r = ctx;
	struct digest *d = r->d;

	if (d->build_id[0] && summary->build_id[0] && strcmp(d->build_id, summary->build_id) != 0)
		return err_set(err, EXIT_INPUT, "%s: the coverage is of the kernel %.40s, and the run's report of %s", r->path,
			       summary->build_id, d->build_id);
	if (!d->build_id[0])
		d->build_id = text_keep(d->text, summary->build_id);
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

	/* A blank would end the name. No symbol has one. */
	if (strchr(function->name, ' '))
		return err_set(err, EXIT_INPUT, "%s: the name of the function \"%.80s\" has a blank", r->path, function->name);
	for (size_t i = 0; i < function->count; i++) {
		const struct coverage_site *site = &function->armed[i];

		fprintf(r->out, "%s+0x%" PRIx32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", function->name,
			site->offset, site->counts.armed, site->counts.hits, site->counts.windows, site->counts.conflicts);
	}
	return 0;
}

int digest_read_coverage(struct digest *d, const char *path, struct err *err)
{
	struct reading r = {.d = d, .path = path};
	const struct coverage_taker taker = {.summary = take_summary, .function = take_function, .ctx = &r};
	int rc;

	r.out = open_memstream(&d->cover.text, &d->cover.len);
	if (!r.out)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	rc = coverage_read(path, &taker, err);
	/* It is in memory, so it fails only where there is none. */
	if (fclose(r.out) != 0 && rc == 0)
		rc = err_set(err, EXIT_INTERNAL, "out of memory");
	if (rc == 0 && text_failed(d->text, err))
		rc = -1;
	return rc;
}
