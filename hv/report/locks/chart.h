/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chart of which lock protects which datum, over the records of several runs. Data, locks and functions are identified by
 * name across records. The chart owns its strings. They are printable, as in the records.
 */
#ifndef OUTRIDER_REPORT_LOCKS_CHART_H
#define OUTRIDER_REPORT_LOCKS_CHART_H

#include <stddef.h>

#include "hv/race/lock_record.h"
#include "hv/report/locks/names.h"
#include "hv/report/locks/together.h"

struct chart_datum {
	char name[CHART_NAME_MAX];
	/*
	 * Length in bytes of the part of `name` that names the variable, struct or cache. The part after it names the place
	 * inside.
	 */
	size_t owner_len;
	/*
	 * The lock that was held at the most writes and, among locks with equally many writes, at the most accesses. "": no
	 * access held a lock.
	 */
	char lock[CHART_NAME_MAX];
	/*
	 * `total`: number of accesses since the object was published. `held`: number of these accesses that `lock` protected.
	 */
	uint64_t total, held;
	/*
	 * `writes`: number of writes in `total`. `rcu`: number of reads in `total` in an RCU read-side critical section without
	 * the lock.
	 */
	uint64_t writes, rcu;
	/* Accesses before publication: before another task or interrupt accessed the object. */
	uint64_t unshared;
	/* The functions with accesses without the lock, sorted by number of accesses. */
	struct chart_missing *missing;
	size_t missing_count;
};

/* A suspicion with the names from its record. */
struct chart_suspicion {
	struct suspicion suspicion;
	/* The sites, in the order of the suspicion's sides. */
	char site[2][SITE_NAME_MAX];
	/* SUSPICION_ATOMICITY: the site in the section in between. Otherwise "". */
	char between[SITE_NAME_MAX];
	char lock[CHART_NAME_MAX];
	/* SUSPICION_ATOMICITY: the lock of the second section, if it is another lock. Otherwise "". */
	char second_lock[CHART_NAME_MAX];
	/*
	 * SUSPICION_ATOMICITY: if the two sections are in two functions, the function that executes both, itself or by calls.
	 * Otherwise "".
	 */
	char caller[SITE_NAME_MAX];
	/* SUSPICION_UNPROTECTED and SUSPICION_ATOMICITY: name of the datum. SUSPICION_INTERRUPT: name of the lock. */
	char datum[CHART_NAME_MAX];
	/* The result of suspicion_identity(), which is the same in every build of the kernel. */
	char identity[RACE_ID_MAX];
	/* Position among the suspicions with this identity in the order of their sites' offsets, from 1. */
	unsigned nth;
};

struct lock_chart {
	/* Sorted by the name of what contains the datum (a type or an object), then by offset and by name. */
	struct chart_datum *data;
	size_t count;
	/*
	 * Sorted by rank, highest first. Of several suspicions with the same id and kind, the chart has only the one with the
	 * strongest result of confirmation.
	 */
	struct chart_suspicion *suspicions;
	size_t suspicion_count;
	/*
	 * Sums over all records. `left_out`: pairs of accesses that are no suspicion, by reason. `lost`: entries for which a
	 * record had no room.
	 */
	uint64_t left_out[PROTECT_LEFT_OUT], lost;
	/* Empty unless lock_chart_make() made the chart. Sorted by lock and owner. */
	struct together_list together;
};

/*
 * Make the chart of `n` records; skips records whose `protection` is NULL. If `wanted` is not NULL, the chart has only the
 * accesses and lock acquisitions made in functions for which wanted(ctx, function) returns true, and the suspicions with at
 * least one access in such a function. Returns 0, or -1 with EXIT_INTERNAL if memory runs out. In both cases call
 * lock_chart_fini().
 */
int lock_chart_make(struct lock_chart *chart, const struct lock_record *records, size_t n,
		    bool (*wanted)(const void *ctx, const char *function), const void *ctx, struct err *err);

/* Make a chart with only the suspicions, for reports that have a section on them. Returns as lock_chart_make() does. */
int lock_chart_suspicions(struct lock_chart *chart, const struct lock_record *records, size_t n, struct err *err);

/* Store in *out a suspicion of the record `p` with its names, without `identity` and `nth`. */
void chart_suspicion_name(const struct protection *p, const struct suspicion *s, struct chart_suspicion *out);

/*
 * Returns the site of an access in one of the three sections of an atomicity suspicion. `step` counts the sections as
 * atomicity_step_words() does.
 */
const char *chart_step_site(const struct chart_suspicion *c, unsigned step);

/* Returns how many of the chart's suspicions are of kind SUSPICION_ATOMICITY. */
size_t lock_chart_atomicities(const struct lock_chart *chart);

/* Free the members and empty the chart. */
void lock_chart_fini(struct lock_chart *chart);

#endif
