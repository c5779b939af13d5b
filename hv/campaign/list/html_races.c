// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the races of a campaign's HTML page: the table of races, and a section for each race. */
#include "hv/campaign/list/html.h"

#include <inttypes.h>

#include "hv/campaign/list/sentences.h"
#include "hv/export/html.h"

/* ---- the table ---- */

/* Begin a cell of the table. A narrow screen shows `label` in the cell, and not the table's head. */
static void begin_cell(FILE *out, const char *classes, const char *label)
{
	fprintf(out, "<td class=\"%s\" data-label=\"%s\">", classes, label);
}

static void put_name_cell(FILE *out, const char *classes, const char *label, const char *text)
{
	begin_cell(out, classes, label);
	html_name(out, text);
	fputs("</td>", out);
}

static void put_row(FILE *out, const struct summary_race *r, size_t order)
{
	const char *change = store_change_word(r->change);

	html_print(out, "<tr data-race=\"race-%s\" data-level=\"%s\">", r->id, change);
	begin_cell(out, "number", "#");
	fprintf(out, "%zu</td>", order);
	begin_cell(out, "id", "Race");
	html_print(out, "<a class=\"mono\" href=\"#race-%s\">%s</a></td>", r->id, r->id);
	begin_cell(out, change, "Change");
	fprintf(out, "%s</td>", change);
	begin_cell(out, list_html_class(r->verdict.class), "Verdict");
	fprintf(out, "%s</td>", summary_class_word(r->verdict.class));
	put_name_cell(out, "rule", "Rule", r->verdict.rule);
	put_name_cell(out, "mono", "Data", r->datum);
	put_name_cell(out, "mono", "One side", r->side[0]);
	put_name_cell(out, "mono", "Other side", r->side[1]);
	put_name_cell(out, "", "Subsystem", r->subsystem);
	begin_cell(out, "number", "Seen");
	fprintf(out, "%" PRIu64 "</td></tr>\n", r->instances);
}

static void put_table(FILE *out, const struct summary *m)
{
	fputs("<div class=\"wide\"><table class=\"races\">\n<thead><tr><th class=\"number\">#</th><th>Race</th><th>Change</th>"
	      "<th>Verdict</th><th>Rule</th><th>Data</th><th>One side</th><th>Other side</th><th>Subsystem</th><th "
	      "class=\"number down\">Seen</th></tr></thead>\n<tbody>\n",
	      out);
	for (size_t i = 0; i < m->race_count; i++)
		put_row(out, &m->races[i], i + 1);
	fputs("</tbody>\n</table></div>\n<p id=\"none\" hidden>No race matches. <button type=\"button\" id=\"clear\">Show all "
	      "races</button></p>\n",
	      out);
}

/* ---- the sections ---- */

static void put_title(FILE *out, const struct summary_race *r)
{
	fputs("<h2>", out);
	list_html_race(out, r);
	html_print(out, " <a class=\"anchor\" href=\"#race-%s\" aria-label=\"Link to this race\">#</a></h2>\n", r->id);
}

static void put_triage(FILE *out, const struct summary_race *r)
{
	if (r->triage == STORE_TRIAGE_NEW && !r->note[0])
		return;
	html_print(out, "<p>Triage: <b>%s</b>%s%s", store_triage_word(r->triage), r->mended[0] ? " in " : "", r->mended);
	html_print(out, "%s%s%s%s", r->who[0] ? ", says " : "", r->who, r->when[0] ? ", " : "", list_time(r->when, LIST_WORDS));
	html_print(out, "%s%s</p>\n", r->note[0] ? ": " : "", r->note);
}

static void put_builds(FILE *out, const struct summary_race *r)
{
	if (!r->build_count)
		return;
	fputs("<div class=\"wide\"><table class=\"plain\"><thead><tr><th>Kernel</th><th>Build id</th><th>Race in its "
	      "reports</th><th>Seen first</th><th>Seen last</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < r->build_count; i++) {
		const struct summary_build *b = &r->builds[i];

		html_print(out,
			   "<tr><td>%s</td><td class=\"mono\">%s</td><td class=\"mono\">%s</td><td>%s</td><td>%s</td></tr>\n",
			   b->release[0] ? b->release : "not known", b->build_id, b->report, list_time(b->first, LIST_WORDS),
			   list_time(b->last, LIST_WORDS));
	}
	fputs("</tbody></table></div>\n", out);
}

/* Write in how many runs, rounds and kernels the race was seen. Escape the text, because list_seen_put() does not. */
static void put_seen(FILE *out, const struct summary *m, const struct summary_race *r)
{
	char text[1024] = "";
	FILE *memory = fmemopen(text, sizeof(text), "w");

	if (!memory)
		return;
	list_seen_put(memory, m, r);
	fclose(memory);
	html_print(out, "<p class=\"faint\">%s</p>\n", text);
}

/* Write the section of a race. Only the sections of races that are new, back or changed are open when the page is loaded. */
static void put_section(FILE *out, const struct summary *m, const struct summary_race *r)
{
	html_print(out, "<section class=\"race\" id=\"race-%s\">\n", r->id);
	put_title(out, r);
	list_html_verdict(out, "<p>", &r->verdict);
	fprintf(out, "<details class=\"body\"%s><summary>Where and when</summary>\n",
		r->change < STORE_CHANGE_GONE ? " open" : "");
	if (r->change == STORE_CHANGE_VERDICT)
		list_html_verdict(out, "<p>Before it was ", &r->before);
	if (r->suppressed[0])
		html_print(out, "<p>Suppressed: %s</p>\n", r->suppressed);
	put_triage(out, r);
	put_seen(out, m, r);
	put_builds(out, r);
	fputs("</details>\n</section>\n", out);
}

void list_html_races(FILE *out, const struct summary *m)
{
	put_table(out, m);
	fputs("<div id=\"sections\">\n", out);
	for (size_t i = 0; i < m->race_count; i++)
		put_section(out, m, &m->races[i]);
	fputs("</div>\n", out);
}
