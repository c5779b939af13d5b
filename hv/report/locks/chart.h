/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which lock protects which datum, over the records of several runs. Data, locks and functions are the same ones when they have
 * the same names. The chart's strings are its own, and printable as those of the records are.
 */
#ifndef OUTRIDER_REPORT_LOCKS_CHART_H
#define OUTRIDER_REPORT_LOCKS_CHART_H

#include <stddef.h>

#include "hv/race/lock_record.h"

#define CHART_NAME_MAX 160

/* A function that accesses a datum without its lock. */
struct chart_missing {
	char function[SITE_NAME_MAX];
	uint64_t count;
};

struct chart_datum {
	char name[CHART_NAME_MAX];
	/* Bytes of `name` that are the variable's, the struct's or the cache's. The rest says where in it the datum is. */
	size_t owner_len;
	/* The lock that was held at most of the writes, and of such the one at most accesses. "": no lock was held at any. */
	char lock[CHART_NAME_MAX];
	/* Accesses since the datum was shared, and at how many of them `lock` kept others away. */
	uint64_t total, held;
	/* Of these, those that wrote, and those that read in an RCU section without the lock. */
	uint64_t writes, rcu;
	/* Accesses before another task or interrupt had come to the object. */
	uint64_t unshared;
	/* The functions of the accesses without the lock, most accesses first. */
	struct chart_missing *missing;
	size_t missing_count;
};

/* A suspicion with the names that it has in its record. */
struct chart_suspicion {
	struct suspicion suspicion;
	/* The sites in the order of its sides. */
	char site[2][SITE_NAME_MAX];
	char lock[CHART_NAME_MAX];
};

struct lock_chart {
	/* In the order of their owners' names, and then of their offsets and names. */
	struct chart_datum *data;
	size_t count;
	/* The worst first. Of those with one id and kind, the one whose proof came furthest. */
	struct chart_suspicion *suspicions;
	size_t suspicion_count;
	/* What all records together left out and lost. */
	uint64_t left_out[PROTECT_LEFT_OUT], lost;
};

/*
 * Make the chart of `n` records. Those whose `protection` is NULL are passed over. `wanted(ctx, function)` says whether the
 * accesses and takes of a function count; a suspicion counts when one of its sides does. NULL: all count. Returns 0, or -1 with
 * EXIT_INTERNAL when memory runs out. In both cases lock_chart_fini() must follow.
 */
int lock_chart_make(struct lock_chart *chart, const struct lock_record *records, size_t n,
		    bool (*wanted)(const void *ctx, const char *function), const void *ctx, struct err *err);

/* The same with suspicions alone, for reports that have a section of them. */
int lock_chart_suspicions(struct lock_chart *chart, const struct lock_record *records, size_t n, struct err *err);

void lock_chart_fini(struct lock_chart *chart);

/* A function as people call it: without its module. */
const char *chart_function(const char *name);

#endif
