/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds members of one variable or struct that critical sections of a lock change together, and functions that change only one
 * of them, or each in a section of its own. The chart of locks has the results (chart.h).
 */
#ifndef OUTRIDER_REPORT_LOCKS_TOGETHER_H
#define OUTRIDER_REPORT_LOCKS_TOGETHER_H

#include "hv/race/lock_record.h"
#include "hv/report/locks/names.h"

/* A function that does not change two members in one section, although other functions do. */
struct chart_odd {
	char function[SITE_NAME_MAX];
	bool changes[2]; /* changes[i]: a section of the function changes member i; no section changes both */
	uint64_t count;	 /* number of the function's sampled writes of the two members */
};

/*
 * Two members of one variable, struct or cache. In most functions that change one of them, one section of the lock `lock`
 * changes both members.
 */
struct chart_together {
	char data[2][CHART_NAME_MAX];
	char lock[CHART_NAME_MAX];
	/*
	 * The functions with a section that changes both members, with the number of each function's sampled writes of the
	 * members.
	 */
	struct chart_missing *functions;
	size_t function_count;
	struct chart_odd *odd;
	size_t odd_count;
};

/* Sorted by lock and owner. All zero: empty. */
struct together_list {
	struct chart_together *list;
	size_t count;
};

/*
 * Find the members that change together, in `n` records, and store them in *out. The parameters are those of lock_chart_make().
 * Returns 0, or -1 if memory runs out. In both cases the caller frees *out with together_list_fini().
 */
int together_find(struct together_list *out, const struct lock_record *records, size_t n,
		  bool (*wanted)(const void *ctx, const char *function), const void *ctx);
void together_list_fini(struct together_list *list);

/*
 * Write in one sentence which two members change together, under which lock, and in which functions they do not. The sentence
 * is cut off if there are too many of these functions.
 */
#define CHART_TOGETHER_TEXT_MAX 1024 /* bytes, including the NUL */
void chart_together_text(const struct chart_together *t, char out[CHART_TOGETHER_TEXT_MAX]);

#endif
