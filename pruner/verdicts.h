/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of races with their verdicts, in an order. `outrider report` and `outrider prune` show it. */
#ifndef OUTRIDER_PRUNER_VERDICTS_H
#define OUTRIDER_PRUNER_VERDICTS_H

#include <jansson.h>
#include <stdio.h>

#include "pruner/prune.h"
#include "pruner/suppress.h"

struct judged {
	const struct race *race;
	size_t found; /* The race's place in the order in which the races were found. */
	struct verdict verdict;
	const char *suppressed; /* The reason that the user gives, or NULL. The suppressions own it. */
};

struct verdicts {
	struct judged *list;
	size_t count;
};

enum verdicts_order { VERDICTS_BY_RANK, VERDICTS_BY_COUNT, VERDICTS_BY_TIME, VERDICTS_BY_SITE };

/* Returns the word of the order i ("rank", "count", "time" or "site"), or NULL when there is no order i. */
const char *verdicts_order_word(size_t i);

/*
 * Judge `count` races, or the races of a store. The races must outlive `out`. `suppressions` may be NULL. Returns 0, or -1 with
 * err set when memory ran out.
 */
int verdicts_judge(struct verdicts *out, const struct prune_rules *rules, struct suppressions *suppressions,
		   struct race *const *races, size_t count, struct err *err);
int verdicts_judge_store(struct verdicts *out, const struct prune_rules *rules, struct suppressions *suppressions,
			 const struct race_store *store, struct err *err);
void verdicts_free(struct verdicts *v);

/* Put the list in an order. Suppressed races come last in every order. */
void verdicts_sort(struct verdicts *v, enum verdicts_order order);

/* Returns whether the race is folded: it is shown on one line unless everything is asked for. */
bool verdict_is_folded(const struct judged *j);

/* Print one line with rank, class, rule, id, count and sites. With `with_evidence` the next line has the evidence. */
void verdict_row(FILE *out, const struct judged *j, bool with_evidence);

/* Print how many races there are of each class. */
void verdicts_sum(FILE *out, const struct verdicts *v);

/* Returns the verdict as docs/report-format.md describes it, or NULL when memory ran out. */
json_t *verdict_json(const struct judged *j);

#endif
