// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts races with their verdicts, as `outrider report` and `outrider prune` show them. */
#include "pruner/verdicts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/report/json/write.h"

static const char *const order_words[] = {
	[VERDICTS_BY_RANK] = "rank",
	[VERDICTS_BY_COUNT] = "count",
	[VERDICTS_BY_TIME] = "time",
	[VERDICTS_BY_SITE] = "site",
};

const char *verdicts_order_word(size_t i)
{
	return i < sizeof(order_words) / sizeof(order_words[0]) ? order_words[i] : NULL;
}

int verdicts_judge(struct verdicts *out, const struct prune_rules *rules, struct suppressions *suppressions,
		   struct race *const *races, size_t count, struct err *err)
{
	struct related *related = related_new(races, count);

	out->list = calloc(count + 1, sizeof(*out->list));
	out->count = 0;
	if (!out->list || !related) {
		related_free(related);
		return err_set(err, EXIT_INTERNAL, "out of memory for %zu verdicts", count);
	}
	for (size_t i = 0; i < count; i++) {
		struct judged *j = &out->list[out->count++];

		j->race = races[i];
		j->found = i;
		prune_race_among(rules, related, races[i], &j->verdict);
		j->suppressed = suppress_find(suppressions, races[i], j->verdict.section);
	}
	related_free(related);
	return 0;
}

int verdicts_judge_store(struct verdicts *out, const struct prune_rules *rules, struct suppressions *suppressions,
			 const struct race_store *store, struct err *err)
{
	size_t count = race_store_count(store);
	struct race **races = calloc(count + 1, sizeof(struct race *));
	int rc;

	if (!races)
		return err_set(err, EXIT_INTERNAL, "out of memory for %zu verdicts", count);
	for (size_t i = 0; i < count; i++)
		races[i] = race_store_get(store, i);
	rc = verdicts_judge(out, rules, suppressions, races, count, err);
	free(races);
	return rc;
}

void verdicts_free(struct verdicts *v)
{
	free(v->list);
	*v = (struct verdicts){0};
}

static int ordered(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Suppressed races come last. Races with equal keys stay in the order in which they were found. */
static int by_order_then_found(const struct judged *a, const struct judged *b, int order)
{
	if (!a->suppressed != !b->suppressed)
		return a->suppressed ? 1 : -1;
	return order ? order : ordered(a->found, b->found);
}

static int by_rank(const void *left, const void *right)
{
	const struct judged *a = left, *b = right;

	return by_order_then_found(a, b, b->verdict.rank - a->verdict.rank);
}

static int by_count(const void *left, const void *right)
{
	const struct judged *a = left, *b = right;

	return by_order_then_found(a, b, ordered(b->race->count, a->race->count));
}

static int by_time(const void *left, const void *right)
{
	const struct judged *a = left, *b = right;

	return by_order_then_found(a, b, ordered(a->race->first_ns, b->race->first_ns));
}

static int by_site(const void *left, const void *right)
{
	const struct judged *a = left, *b = right;
	int order = strcmp(a->race->site[0], b->race->site[0]);

	return by_order_then_found(a, b, order ? order : strcmp(a->race->site[1], b->race->site[1]));
}

void verdicts_sort(struct verdicts *v, enum verdicts_order order)
{
	static int (*const compare[])(const void *, const void *) = {
		[VERDICTS_BY_RANK] = by_rank,
		[VERDICTS_BY_COUNT] = by_count,
		[VERDICTS_BY_TIME] = by_time,
		[VERDICTS_BY_SITE] = by_site,
	};

	qsort(v->list, v->count, sizeof(*v->list), compare[order]);
}

bool verdict_is_folded(const struct judged *j)
{
	return j->suppressed || j->verdict.class == VERDICT_BENIGN || j->verdict.class == VERDICT_SYNCHRONISATION;
}

static void put_clean(FILE *out, const char *text)
{
	char clean[CLEAN_MAX(VERDICT_EVIDENCE_MAX)];

	clean_text(text, strlen(text), clean, sizeof(clean));
	fprintf(out, "     %s\n", clean);
}

void verdict_row(FILE *out, const struct judged *j, bool with_evidence)
{
	const struct verdict *v = &j->verdict;

	fprintf(out, "  %2d %-17s %-26s %s %7" PRIu64 "  %s  <->  %s\n", v->rank,
		j->suppressed ? "suppressed" : verdict_class_word(v->class), rule_name(v->rule), j->race->id, j->race->count,
		j->race->site[0], j->race->site[1]);
	if (!with_evidence)
		return;
	put_clean(out, v->evidence);
	if (j->suppressed)
		put_clean(out, j->suppressed);
}

void verdicts_sum(FILE *out, const struct verdicts *v)
{
	size_t of[VERDICT_BENIGN + 1] = {0}, suppressed = 0;

	for (size_t i = 0; i < v->count; i++) {
		of[v->list[i].verdict.class]++;
		suppressed += v->list[i].suppressed != NULL;
	}
	fprintf(out, "%zu race%s: %zu harmful candidate%s, %zu unclear, %zu synchronisation, %zu benign", v->count,
		v->count == 1 ? "" : "s", of[VERDICT_HARMFUL], of[VERDICT_HARMFUL] == 1 ? "" : "s", of[VERDICT_UNCLEAR],
		of[VERDICT_SYNCHRONISATION], of[VERDICT_BENIGN]);
	if (suppressed)
		fprintf(out, "; %zu of them suppressed", suppressed);
	fputc('\n', out);
}

json_t *verdict_json(const struct judged *j)
{
	struct json_builder b = {0};
	json_t *o = json_object();

	json_put(&b, o, "class", json_string(verdict_class_word(j->verdict.class)));
	json_put(&b, o, "rule", json_string(rule_name(j->verdict.rule)));
	json_put(&b, o, "rank", json_integer(j->verdict.rank));
	json_put(&b, o, "evidence", json_clean(j->verdict.evidence, sizeof(j->verdict.evidence)));
	json_put(&b, o, "suppressed", j->suppressed ? json_clean(j->suppressed, strlen(j->suppressed)) : json_null());
	if (!b.failed)
		return o;
	json_decref(o);
	return NULL;
}
