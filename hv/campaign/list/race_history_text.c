// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a race history as text: all facts in a store about one race. */
#include "hv/campaign/list/sentences.h"
#include "hv/campaign/list/race_history.h"
#include "hv/campaign/list/race_history_parts.h"
#include "hv/report/json/race_read.h"
#include "hv/report/text/fold.h"
#include "hv/report/text/text.h"

#define TEXT_WIDTH 100

static void put_head(FILE *out, const struct race_history *s, const struct text_style *style)
{
	const struct summary_race *r = s->race;
	char first[LIST_TIME_MAX], last[LIST_TIME_MAX];

	fprintf(out, "%sRACE %s%s  %s", text_colour(style, TEXT_TITLE), r->id, text_colour(style, TEXT_PLAIN),
		summary_class_word(r->verdict.class));
	if (r->verdict.rule[0])
		fprintf(out, ", %s, rank %d", r->verdict.rule, r->verdict.rank);
	fprintf(out, "\n  %s <-> %s%s%s\n  %s\n", r->side[0], r->side[1], r->datum[0] ? ": " : "", r->datum, r->subsystem);
	if (r->verdict.evidence[0])
		fprintf(out, "  %s\n", r->verdict.evidence);
	fputs("  seen ", out);
	list_count_put(out, s->seen, "time");
	fputs(" in ", out);
	list_count_put(out, s->runs, "run");
	fputs(" of ", out);
	list_count_put(out, s->rounds, "round");
	fprintf(out, ", first %s, last %s\n", list_time(s->first, first), list_time(s->last, last));
}

static void put_heading(FILE *out, const struct text_style *style, const char *text)
{
	fprintf(out, "\n%s%s%s\n", text_colour(style, TEXT_STRONG), text, text_colour(style, TEXT_PLAIN));
}

static void put_triage_history(FILE *out, const struct race_history *s, const struct text_style *style)
{
	char at[LIST_TIME_MAX];

	if (s->triage_count)
		put_heading(out, style, "TRIAGE");
	for (size_t i = 0; i < s->triage_count; i++) {
		const struct race_history_triage *entry = &s->triage[i];

		fprintf(out, "  %s  %s%s%s%s%s%s%s\n", list_time(entry->at, at), store_triage_word(entry->state),
			entry->mended[0] ? " in " : "", entry->mended, entry->who[0] ? ", says " : "", entry->who,
			entry->note[0] ? ": " : "", entry->note);
	}
}

static void put_builds(FILE *out, const struct race_history *s, const struct text_style *style)
{
	char first[LIST_TIME_MAX], last[LIST_TIME_MAX];

	if (s->race->build_count)
		put_heading(out, style, "BUILDS");
	for (size_t i = 0; i < s->race->build_count; i++) {
		const struct summary_build *b = &s->race->builds[i];

		fprintf(out, "  %s, build id %s, race %s, first %s, last %s\n", b->release[0] ? b->release : "kernel not known",
			b->build_id[0] ? b->build_id : "not known", b->report, list_time(b->first, first),
			list_time(b->last, last));
	}
}

static void put_rounds(FILE *out, const struct race_history *s, const struct text_style *style)
{
	char at[LIST_TIME_MAX];

	if (s->in_round_count)
		put_heading(out, style, "ROUNDS");
	for (size_t i = 0; i < s->in_round_count; i++) {
		const struct race_history_round *r = &s->in_rounds[i];

		fprintf(out, "  %s %u, %s: ", r->campaign, r->number, list_time(r->started, at));
		list_count_put(out, r->seen, "time");
		fputs(" in ", out);
		list_count_put(out, r->runs, "run");
		fprintf(out, ", %s%s%s\n", summary_class_word(r->class), r->rule[0] ? ", " : "", r->rule);
	}
}

/* Write the race's report. Lines are not folded, so that they look as `outrider report` prints them. */
static int put_record(FILE *out, const struct race_history *s, const struct text_style *style, struct err *err)
{
	struct race *race;

	if (!s->record)
		return 0;
	race = race_read(s->record, s->race->id, err);
	if (!race)
		return -1;
	put_heading(out, style, "THE REPORT OF THE RUN THAT SAW IT LAST");
	text_race(out, race, style);
	race_free(race);
	return 0;
}

int race_history_text(FILE *out, const struct race_history *s, const struct list_style *style, struct err *err)
{
	const struct text_style colours = {.colour = style->colour};
	FILE *folded = fold_open(out, style->width ? style->width : TEXT_WIDTH);

	if (!folded)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	put_head(folded, s, &colours);
	put_triage_history(folded, s, &colours);
	put_builds(folded, s, &colours);
	put_rounds(folded, s, &colours);
	fclose(folded);
	return put_record(out, s, &colours, err);
}
