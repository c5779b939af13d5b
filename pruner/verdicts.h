/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sorted list of races with their verdicts, as `outrider report` and `outrider prune` show it. */
#ifndef OUTRIDER_PRUNER_VERDICTS_H
#define OUTRIDER_PRUNER_VERDICTS_H

#include <jansson.h>
#include <stdio.h>

#include "pruner/prune.h"
#include "pruner/lists/suppress.h"

struct judged {
	const struct race *race;
	/* The race's number in the order in which races were found, from 0. Sorting the list does not change this number. */
	size_t found;
	struct verdict verdict;
	/* The reason that the user's suppression of this race gives, or NULL. The string belongs to the suppressions. */
	const char *suppressed;
};

struct verdicts {
	struct judged *list;
	size_t count;
};

enum verdicts_order { VERDICTS_BY_RANK, VERDICTS_BY_COUNT, VERDICTS_BY_TIME, VERDICTS_BY_SITE };

/*
 * Returns the name of value `i` of enum verdicts_order ("rank", "count", "time" or "site"), or NULL if there is no value `i`.
 */
const char *verdicts_order_word(size_t i);

/*
 * Judge `count` races, or all races of a store. The races must outlive `out`. `suppressions` may be NULL. The caller gives
 * `out` to verdicts_free(). Returns 0, or -1 with err set when memory ran out.
 */
int verdicts_judge(struct verdicts *out, const struct prune_rules *rules, struct suppressions *suppressions,
		   struct race *const *races, size_t count, struct err *err);
int verdicts_judge_store(struct verdicts *out, const struct prune_rules *rules, struct suppressions *suppressions,
			 const struct race_store *store, struct err *err);
void verdicts_free(struct verdicts *v);

/* Sort the list. Suppressed races come last in every order. */
void verdicts_sort(struct verdicts *v, enum verdicts_order order);

/*
 * Returns whether the race is suppressed, benign or synchronisation. Reports show such a race on one line only, unless the
 * user asks for all.
 */
bool verdict_is_folded(const struct judged *j);

/*
 * Print one line with rank, class (or "suppressed"), rule, id, count and sites. With `with_evidence`, print the evidence on the
 * next line, and then the reason of the suppression, if there is one.
 */
void verdict_row(FILE *out, const struct judged *j, bool with_evidence);

/* Print the number of races of each class. */
void verdicts_sum(FILE *out, const struct verdicts *v);

/* Returns the verdict as docs/report-format.md describes it, or NULL when memory ran out. The caller owns the result. */
json_t *verdict_json(const struct judged *j);

#endif
