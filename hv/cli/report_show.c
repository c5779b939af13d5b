// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the judged races of `outrider report`, as text, as JSON or in the format of another tool. */
#include "hv/cli/report_show.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/report/text/fold.h"
#include "hv/report/text/text.h"

/* The judged races, and how to show them: the input of the functions below. */
struct shown {
	const struct verdicts *verdicts;
	const struct groups *groups;
	const struct show_how *how;
};

/* Print what stands below the first line of a race: its verdict, its group and, with `others`, the group's other races. */
static void put_remark(FILE *out, const struct shown *s, size_t index, bool others)
{
	const struct judged *j = &s->verdicts->list[index];
	const struct group *group = groups_of(s->groups, index);
	char evidence[CLEAN_MAX(VERDICT_EVIDENCE_MAX)];

	clean_text(j->verdict.evidence, sizeof(j->verdict.evidence), evidence, sizeof(evidence));
	fprintf(out, "  verdict  %s: %s, rank %d%s\n           %s\n", verdict_class_word(j->verdict.class),
		rule_name(j->verdict.rule), j->verdict.rank, j->suppressed ? ", suppressed" : "", evidence);
	fprintf(out, "  group    %s", group->id);
	if (group->count > 1)
		fprintf(out, ", %zu races%s", group->count, others ? ", and these are the others:" : "");
	putc('\n', out);
	if (others)
		groups_others(out, s->groups, s->verdicts, index);
}

static void in_full(FILE *out, const struct shown *s, size_t index, bool others, struct text_style *style)
{
	char *remark = NULL;
	size_t len;
	FILE *memory = open_memstream(&remark, &len);

	/* If memory runs out, the race is printed without its verdict. */
	if (memory) {
		put_remark(memory, s, index, others);
		if (fclose(memory) == 0)
			style->remark = remark;
	}
	text_race(out, s->verdicts->list[index].race, style);
	style->remark = NULL;
	free(remark);
}

static void folded(FILE *out, const struct shown *s)
{
	bool any = false;

	for (size_t i = 0; i < s->groups->count; i++) {
		const struct group *group = &s->groups->list[i];

		if (!verdict_is_folded(group->lead))
			continue;
		if (!any)
			fputs("FOLDED    likely no bugs, or suppressed; --all or --race ID shows them in full\n", out);
		any = true;
		verdict_row(out, group->lead, true);
		groups_others(out, s->groups, s->verdicts, group->members[0]);
	}
	if (any)
		putc('\n', out);
}

static void put_list(void *ctx, FILE *out)
{
	const struct shown *s = ctx;

	groups_sum(out, s->groups);
	groups_table(out, s->groups);
}

static void put_races(FILE *out, const struct shown *s, struct text_style *style)
{
	if (!s->groups->count)
		return;
	fprintf(out, "%sFOUND%s     ", text_colour(style, TEXT_STRONG), text_colour(style, TEXT_PLAIN));
	groups_sum(out, s->groups);
	putc('\n', out);
	/*
	 * If the user asked for all races, print each race by itself and not below its group's lead, in the order that the user
	 * asked for.
	 */
	for (size_t i = 0; s->how->all && i < s->verdicts->count; i++)
		in_full(out, s, i, false, style);
	for (size_t i = 0; !s->how->all && i < s->groups->count; i++) {
		if (!verdict_is_folded(s->groups->list[i].lead))
			in_full(out, s, s->groups->list[i].members[0], true, style);
	}
	if (!s->how->all)
		folded(out, s);
}

static void put_text(FILE *out, const struct shown *s, const struct race_store *store, const struct race_runs *runs)
{
	const struct text_list list = {put_list, (void *)s};
	struct text_style style = {.colour = s->how->colour, .listing = s->how->listing};

	for (size_t i = 0; i < runs->count; i++)
		text_doubt(out, &runs->list[i], runs->files[i], &style);
	for (size_t i = 0; i < runs->count; i++) {
		text_run(out, &runs->list[i], runs->files[i], &style);
		putc('\n', out);
	}
	for (size_t i = 0; i < runs->count; i++) {
		for (size_t c = 0; c < runs->list[i].complaints.count; c++)
			text_complaint(out, &runs->list[i].complaints.list[c], &style);
	}
	put_races(out, s, &style);
	for (size_t i = 0; i < runs->count; i++) {
		if (runs->locks[i].protection)
			text_suspicions(out, runs->locks[i].protection, &runs->locks[i].suspicions, &style);
	}
	text_summary(out, store, NULL, &list, &style);
	for (size_t i = 0; i < runs->count; i++) {
		if (runs->list[i].complaints.read)
			text_complaints_sum(out, &runs->list[i].complaints);
	}
	if (!s->verdicts->count)
		return;
	fputs("  verdicts      ", out);
	verdicts_sum(out, s->verdicts);
	text_names(out, store, s->how->images);
}

void show_text(const struct verdicts *v, const struct groups *groups, const struct race_store *store,
	       const struct race_runs *runs, const struct show_how *how)
{
	const struct shown shown = {v, groups, how};
	FILE *narrow = how->width ? fold_open(stdout, how->width) : NULL;

	/* If memory for folding runs out, print the lines in full width. */
	put_text(narrow ? narrow : stdout, &shown, store, runs);
	if (narrow)
		fclose(narrow);
}

void show_suppressions(const struct groups *groups, const struct show_how *how)
{
	char said[128];

	puts("# Known races, for `outrider report --suppress FILE`. Give each a reason: without one it is refused.");
	for (size_t i = 0; i < groups->count; i++) {
		const struct group *g = &groups->list[i];
		const struct judged *j = g->lead;

		if (j->suppressed || (!how->all && verdict_is_folded(j)))
			continue;
		snprintf(said, sizeof(said), "%s: %s, rank %d; %zu race%s", verdict_class_word(j->verdict.class),
			 rule_name(j->verdict.rule), j->verdict.rank, g->count, g->count == 1 ? "" : "s");
		suppress_write(stdout, j->race, g->id, g->alias, said);
	}
}

int show_export(const struct verdicts *v, const struct groups *groups, const struct race_runs *runs, const struct show_how *how,
		int (*export)(FILE *out, const struct export_run *run, struct err *err), struct err *err)
{
	struct export_run run = {.tool_version = OUTRIDER_VERSION,
				 .kernel = race_runs_kernel(runs),
				 .runs = runs->list,
				 .run_count = runs->count,
				 .listing = how->listing,
				 .suspicions_fail = fail_on_what(how->fail_on) & FAIL_ON_SUSPICION,
				 .atomicities_fail = fail_on_what(how->fail_on) & FAIL_ON_ATOMICITY,
				 .complaints_fail = fail_on_what(how->fail_on) & FAIL_ON_COMPLAINT,
				 .groups = groups,
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
	rc = lock_chart_suspicions(&locks, runs->locks, runs->count, err);
	if (race_runs_followed_locks(runs))
		run.locks = &locks;
	if (rc == 0)
		rc = export(stdout, &run, err);
	lock_chart_fini(&locks);
	free(races);
	return rc;
}

/* Add verdict and group to a race's object. `ctx` has a verdict for each race, in the order of the races. */
static int add_verdict(void *ctx, size_t index, json_t *race)
{
	const struct shown *s = ctx;

	return json_object_set_new(race, "group", json_string(groups_of(s->groups, index)->id)) < 0
		       ? -1
		       : json_object_set_new(race, "verdict", verdict_json(&s->verdicts->list[index]));
}

int show_json(struct verdicts *v, struct report_load *l, struct err *err)
{
	struct groups groups;
	struct shown shown = {.verdicts = v, .groups = &groups};
	int rc = groups_find(&groups, v, err);

	if (rc == 0) {
		groups_sort(&groups);
		if (json_object_set_new(l->document, "judged", json_true()) < 0 ||
		    json_object_set_new(l->document, "groups", groups_json(&groups, v)) < 0)
			rc = err_set(err, EXIT_INTERNAL, "out of memory while making the report");
	}
	/* Ignore a write error here: it stays recorded in the stream. */
	if (rc == 0)
		rc = report_load_write(l, stdout, add_verdict, &shown, err) < 0 && err->code != EXIT_OK ? -1 : 0;
	groups_free(&groups);
	return rc;
}
