/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Coverage of runs in the database: a compressed row for each run, and sums for each site of a kernel. Only
 * hv/campaign/store/ uses this header.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_COVERAGE_TEXT_H
#define OUTRIDER_CAMPAIGN_STORE_COVERAGE_TEXT_H

#include "hv/campaign/store/run_data.h"

/* One line of the text of a struct run_data_coverage. */
struct coverage_text_site {
	const char *name;
	int64_t armed, hits, windows, conflicts;
	int64_t talks; /* 0 if an older version of outrider, without this number, wrote the line */
};

/*
 * Parse the first line of *text in place, and move *text to the start of the next line. out->name points into the text. Returns
 * false if the text has ended, or the line has another form.
 */
bool coverage_text_next(char **text, struct coverage_text_site *out);

/* A row of `cover`. Each row is read by a query of its own, because libpq holds the whole result of a query in memory. */
struct cover_row {
	int64_t run, kernel, runs;
	char *text; /* the coverage, from malloc(); the caller frees it */
};

/* The row to pass to the first call of cover_next(). */
#define COVER_START ((struct cover_row){.run = INT64_MIN, .kernel = INT64_MIN})
#define COVER_ANY (-1) /* rows of all kernels */

/*
 * Read the next row of the round: the row that follows *row in the order of runs and kernels. The row that was read replaces
 * *row. `kernel`: read only rows of this kernel; COVER_ANY: of all kernels. Returns 1, 0 after the last row, or -1 with err
 * set. row->text is NULL unless the result is 1.
 */
int cover_next(struct store *s, int64_t round, int64_t kernel, struct cover_row *row, struct err *err);

/* Insert a row of `cover`, with `size` bytes of compressed coverage. Returns 0, or -1 with err set. */
int cover_write(struct db *db, int64_t round, const struct cover_row *row, const void *data, size_t size, struct err *err);

/*
 * Write a run's coverage as a row of `cover`, and add it to the sums of its sites. Call it in a transaction. Returns 0, or -1
 * with err set.
 */
int coverage_text_write(struct db *db, const struct run_data_coverage *coverage, const struct run_data_run *run, int64_t kernel,
			struct err *err);

/*
 * Add each line of `text`, which covers `runs` runs, to the sums of the kernel's sites. If the line says that the site was
 * armed, and `started` is earlier than the time at which the site was first armed, `started` replaces this time. The same holds
 * for the time of the first hit. The text is parsed in place. Call it in a transaction. Returns 0, or -1 with err set.
 */
int coverage_text_add(struct db *db, char *text, int64_t kernel, int64_t runs, int64_t started, struct err *err);

#endif
