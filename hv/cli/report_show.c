// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/report_show.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/race/race_key.h"
#include "hv/report/text/fold.h"
#include "hv/report/text/text.h"

#define REMARK_MAX (CLEAN_MAX(VERDICT_EVIDENCE_MAX) + 256)

static void in_full(FILE *out, const struct judged *j, struct text_style *style)
{
	char evidence[CLEAN_MAX(VERDICT_EVIDENCE_MAX)], remark[REMARK_MAX];

	clean_text(j->verdict.evidence, sizeof(j->verdict.evidence), evidence, sizeof(evidence));
	snprintf(remark, sizeof(remark), "  verdict  %s: %s, rank %d%s\n           %s\n", verdict_class_word(j->verdict.class),
		 rule_name(j->verdict.rule), j->verdict.rank, j->suppressed ? ", suppressed" : "", evidence);
	style->remark = remark;
	text_race(out, j->race, style);
	style->remark = NULL;
}

static void folded(FILE *out, const struct verdicts *v)
{
	bool any = false;

	for (size_t i = 0; i < v->count; i++) {
		if (!verdict_is_folded(&v->list[i]))
			continue;
		if (!any)
			fputs("FOLDED    likely no bugs, or suppressed; --all or --race ID shows them in full\n", out);
		any = true;
		verdict_row(out, &v->list[i], true);
	}
	if (any)
		putc('\n', out);
}

static void put_text(FILE *out, const struct verdicts *v, const struct race_store *store, const struct race_runs *runs,
		     const struct show_how *how)
{
	struct text_style style = {.colour = how->colour, .listing = how->listing};

	for (size_t i = 0; i < runs->count; i++)
		text_doubt(out, &runs->list[i], runs->files[i], &style);
	for (size_t i = 0; i < runs->count; i++) {
		text_run(out, &runs->list[i], runs->files[i], &style);
		putc('\n', out);
	}
	for (size_t i = 0; i < v->count; i++) {
		if (how->all || !verdict_is_folded(&v->list[i]))
			in_full(out, &v->list[i], &style);
	}
	if (!how->all)
		folded(out, v);
	for (size_t i = 0; i < runs->count; i++) {
		if (runs->locks[i].protection)
			text_suspicions(out, runs->locks[i].protection, &runs->locks[i].suspicions, &style);
	}
	text_summary(out, store, NULL, &style);
	if (!v->count)
		return;
	fputs("  verdicts      ", out);
	verdicts_sum(out, v);
	text_names(out, store, how->images);
}

void show_text(const struct verdicts *v, const struct race_store *store, const struct race_runs *runs,
	       const struct show_how *how)
{
	FILE *narrow = how->width ? fold_open(stdout, how->width) : NULL;

	/* If memory for folding runs out, print the lines in full width. */
	put_text(narrow ? narrow : stdout, v, store, runs, how);
	if (narrow)
		fclose(narrow);
}

void show_suppressions(const struct verdicts *v, const struct show_how *how)
{
	char said[128];

	puts("# Known races, for `outrider report --suppress FILE`. Give each a reason: without one it is refused.");
	for (size_t i = 0; i < v->count; i++) {
		const struct judged *j = &v->list[i];

		if (j->suppressed || (!how->all && verdict_is_folded(j)))
			continue;
		snprintf(said, sizeof(said), "%s: %s, rank %d", verdict_class_word(j->verdict.class),
			 rule_name(j->verdict.rule), j->verdict.rank);
		suppress_write(stdout, j->race, said);
	}
}

/* ---- exports ---- */

/* A race's position in the order of identities, then of offsets. */
struct place {
	struct race_key key;
	uint64_t offset[2]; /* in the order of key.sides */
	const char *id;
	size_t race;
};

static int by_identity(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	int order = strcmp(a->key.identity, b->key.identity);

	for (unsigned i = 0; i < 2 && !order; i++)
		order = a->offset[i] < b->offset[i] ? -1 : a->offset[i] > b->offset[i];
	return order ? order : strcmp(a->id, b->id);
}

/* Number the races that have one identity. */
static int number_races(struct export_race *races, size_t count, struct err *err)
{
	struct place *places = calloc(count + 1, sizeof(*places));

	if (!places)
		return err_set(err, EXIT_INTERNAL, "out of memory while exporting");
	for (size_t i = 0; i < count; i++) {
		const struct race *race = races[i].race;

		places[i] = (struct place){.id = race->id, .race = i};
		race_key(race, &places[i].key);
		for (unsigned k = 0; k < 2; k++)
			places[i].offset[k] = site_offset(race->site[places[i].key.sides[k].side]);
	}
	qsort(places, count, sizeof(*places), by_identity);
	for (size_t i = 0; i < count; i++) {
		bool same = i && strcmp(places[i - 1].key.identity, places[i].key.identity) == 0;

		races[places[i].race].nth = same ? races[places[i - 1].race].nth + 1 : 1;
	}
	free(places);
	return 0;
}

int show_export(const struct verdicts *v, const struct race_runs *runs, const struct show_how *how,
		int (*export)(FILE *out, const struct export_run *run, struct err *err), struct err *err)
{
	struct export_run run = {.tool_version = OUTRIDER_VERSION,
				 .kernel = race_runs_kernel(runs),
				 .runs = runs->list,
				 .run_count = runs->count,
				 .listing = how->listing,
				 .suspicions_fail = fail_on_what(how->fail_on) & FAIL_ON_SUSPICION,
				 .count = v->count};
	struct export_race *races = calloc(v->count + 1, sizeof(*races));
	struct lock_chart locks = {0};
	int rc;

	if (!races)
		return err_set(err, EXIT_INTERNAL, "out of memory while exporting");
	for (int i = RUN_SOUND + 1; i < RUN_DOUBTS; i++)
		run.excused |= fail_on_doubt(how->fail_on, (enum run_doubt)i) ? 0 : 1u << i;
	for (size_t i = 0; i < v->count; i++) {
		const struct judged *j = &v->list[i];

		races[i] = (struct export_race){.race = j->race,
						.level = export_level_of(j->verdict.class),
						.verdict = verdict_class_word(j->verdict.class),
						.rank = j->verdict.rank,
						.folded = !how->all && verdict_is_folded(j),
						.rule = &rule_table[j->verdict.rule],
						.evidence = j->verdict.evidence,
						.fails = fail_on_race(how->fail_on, j),
						.suppression = j->suppressed};
	}
	run.races = races;
	rc = number_races(races, v->count, err);
	if (rc == 0)
		rc = lock_chart_suspicions(&locks, runs->locks, runs->count, err);
	if (race_runs_followed_locks(runs))
		run.locks = &locks;
	if (rc == 0)
		rc = export(stdout, &run, err);
	lock_chart_fini(&locks);
	free(races);
	return rc;
}

/* Add the verdict to a race's object. `ctx` has a verdict for each race, in the order of the races. */
static int add_verdict(void *ctx, size_t index, json_t *race)
{
	const struct verdicts *v = ctx;

	return json_object_set_new(race, "verdict", verdict_json(&v->list[index]));
}

int show_json(struct verdicts *v, struct report_load *l, struct err *err)
{
	if (json_object_set_new(l->document, "judged", json_true()) < 0)
		return err_set(err, EXIT_INTERNAL, "out of memory while making the report");
	/* Ignore a write error here: it stays recorded in the stream. */
	return report_load_write(l, stdout, add_verdict, v, err) < 0 && err->code != EXIT_OK ? -1 : 0;
}
