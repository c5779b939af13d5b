// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the table of all races on the HTML page of a report. */
#include <inttypes.h>

#include "hv/export/html.h"
#include "hv/report/device.h"
#include "hv/report/words.h"

/* Begin a cell of the table. On a narrow screen, the cell shows `label`, since the table's head is hidden. */
static void begin_cell(FILE *out, const char *classes, const char *label)
{
	fprintf(out, "<td class=\"%s\" data-label=\"%s\">", classes, label);
}

static void put_site(FILE *out, const struct export_race *r, unsigned which, const char *label)
{
	const struct race *race = r->race;
	const struct race_side *side = &race->first.sides[which];
	char kind[DEVICE_TEXT_MAX];

	begin_cell(out, "mono", label);
	fprintf(out, "%s ", side->kind != RACE_SIDE_UNSEEN ? access_word(race->rw[which]) : "write");
	if (side->kind == RACE_SIDE_CPU) {
		html_name(out, race->site[which]);
	} else if (side->kind == RACE_SIDE_DEVICE) {
		device_kind(&side->device, kind);
		html_name(out, kind);
	} else {
		fputs("(unseen)", out);
	}
	fputs("</td>", out);
}

/* Write the row of a group: facts about its lead, the number of its races, and the number of all their observations. */
static void put_row(FILE *out, const struct export_run *run, const struct group *group, size_t order)
{
	const struct export_race *r = &run->races[group->members[0]];
	const struct race *race = r->race;
	char datum[DATUM_TEXT_MAX];

	fprintf(out, "<tr data-group=\"group-%s\" data-level=\"%s\">", group->id, html_level_class(html_level(r)));
	begin_cell(out, "number", "#");
	fprintf(out, "%zu</td>", order);
	begin_cell(out, "id", "Race");
	fprintf(out, "<a class=\"mono\" href=\"#race-%s\">%s</a></td>", race->id, race->id);
	begin_cell(out, "number", "Rank");
	if (r->verdict)
		fprintf(out, "%d", r->rank);
	fputs("</td>", out);
	begin_cell(out, html_level_class(html_level(r)), "Verdict");
	html_text(out, html_verdict(r));
	fputs("</td>", out);
	begin_cell(out, "rule", "Rule");
	html_text(out, r->rule ? r->rule->name : "");
	fputs("</td>", out);
	begin_cell(out, "mono", "Data");
	datum_path(race, datum);
	html_name(out, datum);
	fputs("</td>", out);
	put_site(out, r, 0, "Held");
	put_site(out, r, 1, "Meanwhile");
	begin_cell(out, "number", "Races");
	fprintf(out, "%zu</td>", group->count);
	begin_cell(out, "number", "Seen");
	fprintf(out, "%" PRIu64 "</td></tr>\n", group->seen);
}

void html_table(FILE *out, const struct export_run *run)
{
	fputs("<div class=\"wide\"><table class=\"races\">\n<thead><tr><th class=\"number\">#</th><th>Race</th><th "
	      "class=\"number "
	      "down\">Rank</th><th>Verdict</th><th>Rule</th><th>Data</th><th>Held</th><th>Meanwhile</th><th "
	      "class=\"number down\">Races</th><th class=\"number down\">Seen</th></tr></thead>\n<tbody>\n",
	      out);
	for (size_t i = 0; run->groups && i < run->groups->count; i++)
		put_row(out, run, &run->groups->list[i], i + 1);
	fputs("</tbody>\n</table></div>\n<p id=\"none\" hidden>No race matches. <button type=\"button\" id=\"clear\">Show all "
	      "races</button></p>\n",
	      out);
}
