/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Races with their verdicts, put in order: what `outrider report` and `outrider prune` show. */
#ifndef OUTRIDER_PRUNER_VERDICTS_H
#define OUTRIDER_PRUNER_VERDICTS_H

#include <jansson.h>
#include <stdio.h>

#include "pruner/prune.h"
#include "pruner/suppress.h"

struct judged {
	const struct race *race;
	size_t found; /* its place in the order of finding */
	struct verdict verdict;
	const char *suppressed; /* the reason that the user gives, or NULL; as long as the suppressions last */
};

struct verdicts {
	struct judged *list;
	size_t count;
};

enum verdicts_order { VERDICTS_BY_RANK, VERDICTS_BY_COUNT, VERDICTS_BY_TIME, VERDICTS_BY_SITE };

/* "rank", "count", "time" or "site" as an order; -1: none of them. */
int verdicts_order(const char *word);

/* Judge `count` races, which must last. `suppressions` may be NULL. 0, or -1 when memory ran out. */
int verdicts_judge(struct verdicts *out, const struct prune_rules *rules, struct suppressions *suppressions,
		   struct race *const *races, size_t count, struct err *err);
int verdicts_judge_store(struct verdicts *out, const struct prune_rules *rules, struct suppressions *suppressions,
			 const struct race_store *store, struct err *err);
void verdicts_free(struct verdicts *v);

/* Suppressed ones come last, whatever the order. */
void verdicts_sort(struct verdicts *v, enum verdicts_order order);

/* Whether it is shown on one line unless everything is asked for. */
bool verdict_is_folded(const struct judged *j);

/* One line: rank, class, rule, id, count and sites; and the evidence on the next. */
void verdict_row(FILE *out, const struct judged *j, bool with_evidence);

/* How many of each class. */
void verdicts_sum(FILE *out, const struct verdicts *v);

/* The verdict as docs/report-format.md has it; NULL when memory ran out. */
json_t *verdict_json(const struct judged *j);

#endif
