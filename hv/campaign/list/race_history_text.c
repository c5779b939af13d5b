// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a race history as text: all facts in a store about one race. */
#include <inttypes.h>

#include "hv/campaign/list/fill_internal.h"
#include "hv/campaign/list/sentences.h"
#include "hv/campaign/list/race_history.h"
#include "hv/campaign/list/race_history_parts.h"
#include "hv/report/json/race_read.h"
#include "hv/report/json/sections_json.h"
#include "hv/report/text/fold.h"
#include "hv/report/text/text.h"

#define TEXT_WIDTH 100
#define LAST_REPORT "THE REPORT OF THE RUN THAT SAW IT LAST"

static void put_head(FILE *out, const struct race_history *s, const struct text_style *style)
{
	const struct summary_race *r = s->race;

	fprintf(out, "%sRACE %s%s  %s", text_colour(style, TEXT_TITLE), r->id, text_colour(style, TEXT_PLAIN),
		summary_class_word(r->verdict.class));
	if (r->verdict.rule[0])
		fprintf(out, ", %s, rank %d", r->verdict.rule, r->verdict.rank);
	fprintf(out, "\n  %s <-> %s%s%s\n  %s\n", r->side[0], r->side[1], r->datum[0] ? ": " : "", r->datum, r->subsystem);
	if (r->verdict.evidence[0])
		fprintf(out, "  %s\n", r->verdict.evidence);
	fputs("  seen ", out);
	race_history_seen_put(out, s);
	fprintf(out, ", first %s, last %s\n", list_time(s->first, LIST_WORDS), list_time(s->last, LIST_WORDS));
}

void race_history_seen_put(FILE *out, const struct race_history *s)
{
	fprintf(out, "%s in %s of %s", list_count(s->seen, "time", LIST_WORDS), list_count(s->runs, "run", LIST_WORDS),
		list_count(s->rounds, "round", LIST_WORDS));
}

static void put_heading(FILE *out, const struct text_style *style, const char *text)
{
	fprintf(out, "\n%s%s%s\n", text_colour(style, TEXT_STRONG), text, text_colour(style, TEXT_PLAIN));
}

static void put_triage_history(FILE *out, const struct race_history *s, const struct text_style *style)
{
	if (s->triage_count)
		put_heading(out, style, "TRIAGE");
	for (size_t i = 0; i < s->triage_count; i++) {
		const struct race_history_triage *entry = &s->triage[i];

		fprintf(out, "  %s  %s%s%s%s%s%s%s\n", list_time(entry->at, LIST_WORDS), store_triage_word(entry->state),
			entry->mended[0] ? " in " : "", entry->mended, entry->who[0] ? ", says " : "", entry->who,
			entry->note[0] ? ": " : "", entry->note);
	}
}

static void put_builds(FILE *out, const struct race_history *s, const struct text_style *style)
{
	if (s->race->build_count)
		put_heading(out, style, "BUILDS");
	for (size_t i = 0; i < s->race->build_count; i++) {
		const struct summary_build *b = &s->race->builds[i];

		fprintf(out, "  %s, build id %s, race %s, first %s, last %s\n", b->release[0] ? b->release : "kernel not known",
			b->build_id[0] ? b->build_id : "not known", b->report, list_time(b->first, LIST_WORDS),
			list_time(b->last, LIST_WORDS));
	}
}

static void put_rounds(FILE *out, const struct race_history *s, const struct text_style *style)
{
	if (s->in_rounds.count)
		put_heading(out, style, "ROUNDS");
	for (size_t i = 0; i < s->in_rounds.count; i++) {
		const struct store_race_round *r = &s->in_rounds.list[i];

		fprintf(out, "  %s %" PRIu64 ", %s: %s in %s, %s%s%s\n", r->campaign, r->number,
			list_time(list_stamp(r->started, LIST_WORDS), LIST_WORDS), list_count(r->seen, "time", LIST_WORDS),
			list_count(r->runs, "run", LIST_WORDS), summary_class_word(fill_class(r->class, r->rule)),
			r->rule[0] ? ", " : "", r->rule);
	}
}

static int put_sections(FILE *out, const struct race_history *s, const struct text_style *style, struct err *err)
{
	struct chart_suspicion c;

	if (sections_read(s->record, s->race->id, &c, err) < 0)
		return -1;
	put_heading(out, style, LAST_REPORT);
	fprintf(out, "  %s %s\n", c.suspicion.id, c.suspicion.text);
	text_sections(out, &c);
	return 0;
}

/* Write the race's report. Lines are not folded, so that they look as `outrider report` prints them. */
static int put_record(FILE *out, const struct race_history *s, const struct text_style *style, struct err *err)
{
	struct race *race;

	if (!s->record)
		return 0;
	if (s->race->atomicity)
		return put_sections(out, s, style, err);
	race = race_read(s->record, s->race->id, err);
	if (!race)
		return -1;
	put_heading(out, style, LAST_REPORT);
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
