/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of trials to leave out, because an earlier exploration of the same two programs ran them. A list is read from a file
 * that has a line for each trial: "BUILD SITE SITE SCHEDULE". BUILD is the build id of the kernel in hexadecimal, the sites are
 * those of A and of B as explore_site_name() names them, and SCHEDULE is a word of explore_schedule_word(). So a line leaves
 * out a trial only in this build of the kernel.
 *
 * A list does not change after explore_skip_read(), and any thread may read it.
 */
#ifndef OUTRIDER_EXPLORE_SKIP_H
#define OUTRIDER_EXPLORE_SKIP_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/explore/facts.h"
#include "hv/race/site.h"

/* All zero: an empty list. */
struct explore_skip {
	char **lines; /* sorted */
	size_t count;
};

/*
 * Read the file at `path`. Returns 0, or -1 with EXIT_INPUT if the file cannot be read, or a line has not four words.
 * explore_skip_free() follows in both cases.
 */
int explore_skip_read(struct explore_skip *s, const char *path, struct err *err);
void explore_skip_free(struct explore_skip *s);

/* Returns whether the list has the trial. `build_id` is "" if the build is unknown: then no list has the trial. */
bool explore_skips(const struct explore_skip *s, const char *build_id, const char site[2][SITE_NAME_MAX],
		   enum explore_schedule schedule);

/* Write the name of the side's site, as reports have it (site_name()). */
void explore_site_name(const struct explore_side *side, uint64_t slide, char out[SITE_NAME_MAX]);

#endif
