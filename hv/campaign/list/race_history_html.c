// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a race history as an HTML page, with the style of the page of `outrider report`: the verdict and triage of the race,
 * the rounds, builds and runs that saw it, and the report of the run that saw it last.
 */
#include <inttypes.h>
#include <string.h>

#include "hv/campaign/list/again.h"
#include "hv/campaign/list/html.h"
#include "hv/campaign/list/fill_internal.h"
#include "hv/campaign/list/race_history.h"
#include "hv/campaign/list/race_history_parts.h"
#include "hv/campaign/list/sentences.h"
#include "hv/export/html.h"
#include "hv/report/lock_words.h"
#include "hv/report/json/race_read.h"
#include "hv/report/json/sections_json.h"

#define LAST_REPORT "The report of the run that saw it last"

static const char style[] =
#include "list.css.h"
	;

/* ---- tables ---- */

struct column {
	const char *head, *classes;
};

static void begin_table(FILE *out, const char *id, const char *title, const struct column *columns, size_t n)
{
	fprintf(out, "<h2 class=\"part\">%s</h2>\n<div class=\"wide\"><table class=\"races\" id=\"%s\"><thead><tr>", title, id);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "<th%s>%s</th>", strcmp(columns[i].classes, "number") == 0 ? " class=\"number\"" : "",
			columns[i].head);
	fputs("</tr></thead><tbody>\n", out);
}

static void end_table(FILE *out)
{
	fputs("</tbody></table></div>\n", out);
}

/* Begin a cell. On a narrow screen the cell shows its column's head, since the table's head is hidden. */
static void begin_cell(FILE *out, const struct column *column, const char *more_class)
{
	fprintf(out, "<td class=\"%s %s\" data-label=\"%s\">", column->classes, more_class, column->head);
}

static void put_cell(FILE *out, const struct column *column, const char *text)
{
	begin_cell(out, column, "");
	html_foreign(out, text);
	fputs("</td>", out);
}

static void put_number(FILE *out, const struct column *column, uint64_t number)
{
	begin_cell(out, column, "");
	fprintf(out, "%" PRIu64 "</td>", number);
}

/* Write a verdict. `changed`: the verdict differs from that in the round before, so write the word "changed" after it. */
static void put_verdict_cell(FILE *out, const struct column *column, enum summary_class class, const char *rule, bool changed)
{
	begin_cell(out, column, list_html_class(class));
	fprintf(out, "%s%s", summary_class_word(class), rule[0] ? ", " : "");
	html_foreign(out, rule);
	fputs(changed ? " <span class=\"changed\">changed</span></td>" : "</td>", out);
}

/* ---- the parts of the page ---- */

static void put_title(FILE *out, const void *ctx)
{
	list_html_race(out, ((const struct race_history *)ctx)->race);
}

static void put_fact(FILE *out, const char *what, const char *text)
{
	if (!text[0])
		return;
	fprintf(out, "<dt>%s</dt><dd>", what);
	html_foreign(out, text);
	fputs("</dd>\n", out);
}

/* Write how to see the race again: the command of the run that saw it last, and the option that aims the run at this race. */
static void put_again(FILE *out, const struct store_race_run *last, bool can_aim)
{
	if (!last->command[0])
		return;
	fputs("<dt>Run again</dt><dd><code>", out);
	html_foreign(out, last->command);
	fputs("</code></dd>\n", out);
	if (!last->folder[0] || !can_aim)
		return;
	fputs("<dt>Aim at it</dt><dd><code>--aim ", out);
	html_foreign(out, last->folder);
	fputs("/races.json#", out);
	html_foreign(out, last->report);
	fputs("</code> added to this command samples the two sites of this race alone</dd>\n", out);
}

static void put_facts(FILE *out, const struct race_history *s, const struct store_race_runs *runs)
{
	const struct summary_race *r = s->race;

	fputs("<dl class=\"run\">\n", out);
	put_fact(out, "Race", r->id);
	put_fact(out, "Subsystem", r->subsystem);
	fputs("<dt>Seen</dt><dd>", out);
	race_history_seen_put(out, s);
	fputs("</dd>\n", out);
	put_fact(out, "First", list_time(s->first, LIST_WORDS));
	put_fact(out, "Last", list_time(s->last, LIST_WORDS));
	put_fact(out, "Triage", store_triage_word(r->triage));
	put_fact(out, "Suppressed", r->suppressed);
	if (runs->count)
		put_again(out, &runs->list[0], !r->atomicity && !again_explores(runs->list[0].command));
	put_fact(out, "Store", s->m.store);
	fputs("</dl>\n", out);
}

static void put_triage(FILE *out, const struct race_history *s)
{
	static const struct column columns[] = {{"When", ""}, {"State", ""}, {"Who", ""}, {"Note", ""}};

	if (!s->triage_count)
		return;
	begin_table(out, "triage", "What was said of it", columns, 4);
	for (size_t i = 0; i < s->triage_count; i++) {
		const struct race_history_triage *entry = &s->triage[i];

		fputs("<tr>", out);
		put_cell(out, &columns[0], list_time(entry->at, LIST_WORDS));
		put_cell(out, &columns[1], store_triage_word(entry->state));
		put_cell(out, &columns[2], entry->who);
		put_cell(out, &columns[3], entry->note);
		fputs("</tr>\n", out);
	}
	end_table(out);
}

/* Write the table of rounds, the newest first. A verdict is marked if it differs from the verdict in the round before. */
static void put_rounds(FILE *out, const struct race_history *s)
{
	static const struct column columns[] = {{"Campaign", ""},   {"Round", "number"}, {"Started", ""},
						{"Seen", "number"}, {"Runs", "number"},	 {"Verdict", ""}};

	begin_table(out, "rounds", "Rounds that saw it", columns, 6);
	for (size_t i = s->in_rounds.count; i-- > 0;) {
		const struct store_race_round *r = &s->in_rounds.list[i], *before = i ? r - 1 : NULL;
		enum summary_class class = fill_class(r->class, r->rule);
		bool changed =
			before && (fill_class(before->class, before->rule) != class || strcmp(before->rule, r->rule) != 0);

		fputs("<tr>", out);
		put_cell(out, &columns[0], r->campaign);
		put_number(out, &columns[1], r->number);
		put_cell(out, &columns[2], list_time(list_stamp(r->started, LIST_WORDS), LIST_WORDS));
		put_number(out, &columns[3], r->seen);
		put_number(out, &columns[4], r->runs);
		put_verdict_cell(out, &columns[5], class, r->rule, changed);
		fputs("</tr>\n", out);
	}
	end_table(out);
}

static void put_builds(FILE *out, const struct race_history *s)
{
	static const struct column columns[] = {
		{"Kernel", ""}, {"Build id", "mono"}, {"Race in its reports", "mono"}, {"Seen first", ""}, {"Seen last", ""}};

	begin_table(out, "builds", "Builds that have it", columns, 5);
	for (size_t i = 0; i < s->race->build_count; i++) {
		const struct summary_build *b = &s->race->builds[i];

		fputs("<tr>", out);
		put_cell(out, &columns[0], b->release[0] ? b->release : "not known");
		put_cell(out, &columns[1], b->build_id);
		put_cell(out, &columns[2], b->report);
		put_cell(out, &columns[3], list_time(b->first, LIST_WORDS));
		put_cell(out, &columns[4], list_time(b->last, LIST_WORDS));
		fputs("</tr>\n", out);
	}
	end_table(out);
}

static void put_run(FILE *out, const struct column columns[], const struct store_race_run *r)
{
	fputs("<tr>", out);
	put_cell(out, &columns[0], list_time(list_stamp(r->started, LIST_WORDS), LIST_WORDS));
	begin_cell(out, &columns[1], "");
	html_foreign(out, r->campaign);
	fprintf(out, " %" PRIu64 "</td>", r->number);
	put_cell(out, &columns[2], r->key);
	put_number(out, &columns[3], r->seen);
	begin_cell(out, &columns[4], "");
	fprintf(out, "%.3f</td>", (double)r->first_ns / 1e9);
	put_cell(out, &columns[5], r->report);
	put_verdict_cell(out, &columns[6], fill_class(r->class, r->rule), "", false);
	put_cell(out, &columns[7], r->folder);
	fputs("</tr>\n", out);
}

static void put_runs(FILE *out, const struct race_history *s, const struct store_race_runs *runs)
{
	static const struct column columns[] = {
		{"Started", ""},    {"Round", ""},	    {"Run", "mono"},
		{"Seen", "number"}, {"First, s", "number"}, {"Race in its report", "mono"},
		{"Verdict", ""},    {"Files", "mono"},
	};

	begin_table(out, "runs", "Runs that saw it", columns, 8);
	for (size_t i = 0; i < runs->count; i++)
		put_run(out, columns, &runs->list[i]);
	end_table(out);
	if (runs->count < s->runs)
		fprintf(out, "<p class=\"faint\">The newest %zu of %" PRIu64 " runs.</p>\n", runs->count, s->runs);
}

/* ---- the report ---- */

static int put_sections(FILE *out, const struct race_history *s, struct err *err)
{
	char confirm[CONFIRM_TEXT_MAX];
	struct chart_suspicion c;

	if (sections_read(s->record, s->race->id, &c, err) < 0)
		return -1;
	fputs("<h2 class=\"part\">" LAST_REPORT "</h2>\n<section class=\"race\">\n<p>", out);
	html_foreign(out, c.suspicion.text);
	fputs("</p>\n", out);
	html_sections(out, &c);
	confirm_text(&c.suspicion, confirm);
	html_print(out, "\n<p>%s</p>\n</section>\n", confirm);
	return 0;
}

static int put_report(FILE *out, const struct race_history *s, struct err *err)
{
	const struct export_run run = {.tool_version = s->m.version};
	struct race *race;

	if (!s->record)
		return 0;
	if (s->race->atomicity)
		return put_sections(out, s, err);
	race = race_read(s->record, s->race->id, err);
	if (!race)
		return -1;
	fputs("<h2 class=\"part\">" LAST_REPORT "</h2>\n<section class=\"race\">\n<details "
	      "class=\"body\" "
	      "open><summary>Both sides</summary>\n",
	      out);
	html_values(out, race);
	fputs("<div class=\"sides\">\n", out);
	html_side(out, &run, race, 0);
	html_side(out, &run, race, 1);
	fputs("</div>\n", out);
	html_timeline(out, race);
	html_replay(out, race);
	fputs("</details>\n</section>\n", out);
	race_free(race);
	return 0;
}

int race_history_html(FILE *out, const struct race_history *s, const struct store_race_runs *runs, struct err *err)
{
	int rc;

	html_page_begin(out, put_title, s, style);
	list_html_verdict(out, "<p id=\"verdict\">", &s->race->verdict);
	put_facts(out, s, runs);
	put_triage(out, s);
	put_rounds(out, s);
	rc = put_report(out, s, err);
	put_builds(out, s);
	put_runs(out, s, runs);
	html_page_end(out, s->m.version);
	return rc;
}
