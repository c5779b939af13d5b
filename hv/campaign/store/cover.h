/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs covered, in the database. Only hv/campaign/store/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_COVER_H
#define OUTRIDER_CAMPAIGN_STORE_COVER_H

#include "hv/campaign/store/digest.h"

/* A line of a struct digest_cover. */
struct cover_site {
	const char *name;
	int64_t armed, hits, windows, conflicts;
};

/*
 * Take the next line of the text at *text, which is changed, and move *text behind it. False: there is none, or it is no such
 * line.
 */
bool cover_next(char **text, struct cover_site *out);

/* Add what a run covered to the sums, and keep it. */
int cover_write(struct db *db, const struct digest_cover *cover, const struct digest_run *run, int64_t kernel, struct err *err);

/* Add the lines of `text`, which is changed, to the sums of a kernel's sites, as those of `runs` runs started at `started`. */
int cover_add(struct db *db, char *text, int64_t kernel, int64_t runs, int64_t started, struct err *err);

#endif
