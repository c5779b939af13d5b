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

	fputs("<tr data-race=\"race-", out);
	html_text(out, r->id);
	fprintf(out, "\" data-level=\"%s\">", change);
	begin_cell(out, "number", "#");
	fprintf(out, "%zu</td>", order);
	begin_cell(out, "id", "Race");
	fputs("<a class=\"mono\" href=\"#race-", out);
	html_text(out, r->id);
	fputs("\">", out);
	html_text(out, r->id);
	fputs("</a></td>", out);
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
	html_text(out, r->side[0]);
	fputs(" against ", out);
	html_text(out, r->side[1]);
	if (r->datum[0]) {
		fputs(": ", out);
		html_text(out, r->datum);
	}
	fputs(" <a class=\"anchor\" href=\"#race-", out);
	html_text(out, r->id);
	fputs("\" aria-label=\"Link to this race\">#</a></h2>\n", out);
}

static void put_triage(FILE *out, const struct summary_race *r)
{
	char when[LIST_TIME_MAX];

	if (r->triage == STORE_TRIAGE_NEW && !r->note[0])
		return;
	fprintf(out, "<p>Triage: <b>%s</b>", store_triage_word(r->triage));
	if (r->mended[0]) {
		fputs(" in ", out);
		html_text(out, r->mended);
	}
	if (r->who[0]) {
		fputs(", says ", out);
		html_text(out, r->who);
	}
	if (r->when[0]) {
		fputs(", ", out);
		html_text(out, list_time(r->when, when));
	}
	if (r->note[0]) {
		fputs(": ", out);
		html_text(out, r->note);
	}
	fputs("</p>\n", out);
}

static void put_builds(FILE *out, const struct summary_race *r)
{
	if (!r->build_count)
		return;
	fputs("<div class=\"wide\"><table class=\"plain\"><thead><tr><th>Kernel</th><th>Build id</th><th>Race in its "
	      "reports</th><th>Seen first</th><th>Seen last</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < r->build_count; i++) {
		char first[LIST_TIME_MAX], last[LIST_TIME_MAX];

		fputs("<tr><td>", out);
		html_text(out, r->builds[i].release[0] ? r->builds[i].release : "not known");
		fputs("</td><td class=\"mono\">", out);
		html_text(out, r->builds[i].build_id);
		fputs("</td><td class=\"mono\">", out);
		html_text(out, r->builds[i].report);
		fputs("</td><td>", out);
		html_text(out, list_time(r->builds[i].first, first));
		fputs("</td><td>", out);
		html_text(out, list_time(r->builds[i].last, last));
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

/* Write where the race was seen. Escape the text, because list_seen_put() does not. */
static void put_seen(FILE *out, const struct summary *m, const struct summary_race *r)
{
	char text[1024] = "";
	FILE *memory = fmemopen(text, sizeof(text), "w");

	if (!memory)
		return;
	list_seen_put(memory, m, r);
	fclose(memory);
	fputs("<p class=\"faint\">", out);
	html_text(out, text);
	fputs("</p>\n", out);
}

/* Write the section of a race. Only sections of races that need attention are open. */
static void put_section(FILE *out, const struct summary *m, const struct summary_race *r)
{
	fputs("<section class=\"race\" id=\"race-", out);
	html_text(out, r->id);
	fputs("\">\n", out);
	put_title(out, r);
	list_html_verdict(out, "<p>", &r->verdict);
	fprintf(out, "<details class=\"body\"%s><summary>Where and when</summary>\n",
		r->change < STORE_CHANGE_GONE ? " open" : "");
	if (r->change == STORE_CHANGE_VERDICT)
		list_html_verdict(out, "<p>Before it was ", &r->before);
	if (r->suppressed[0]) {
		fputs("<p>Suppressed: ", out);
		html_text(out, r->suppressed);
		fputs("</p>\n", out);
	}
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
