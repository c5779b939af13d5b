// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the table of suspicions on the HTML page of a report. */
#include "hv/export/html.h"
#include "hv/report/lock_words.h"

static const char *const heads[] = {"Id", "Rank", "What the locks say", "With the lock", "Without it", "Confirmed"};

/* Begin the cell of column `column`. On a narrow screen the cell shows its column's head, since the table's head is hidden. */
static void begin_cell(FILE *out, const char *classes, unsigned column)
{
	fprintf(out, "<td class=\"%s\" data-label=\"%s\">", classes, heads[column]);
}

void html_sections(FILE *out, const struct chart_suspicion *c)
{
	fputs("<ol class=\"sections\">", out);
	for (unsigned i = 0; i < ATOMICITY_STEPS; i++) {
		fprintf(out, "<li%s><span class=\"when\">%s</span> <span class=\"mono\">", i == 1 ? " class=\"other\"" : "",
			atomicity_step_when(i));
		html_name(out, chart_step_site(c, i));
		fprintf(out, "</span> %s</li>", atomicity_step_words(c->suspicion.pattern, i));
	}
	fputs("</ol>", out);
}

static void put_suspicion(FILE *out, const struct chart_suspicion *c)
{
	char confirm[CONFIRM_TEXT_MAX];

	confirm_text(&c->suspicion, confirm);
	fprintf(out, "<tr id=\"suspicion-%s\">", c->suspicion.id);
	begin_cell(out, "id mono", 0);
	fprintf(out, "%s</td>", c->suspicion.id);
	begin_cell(out, "number", 1);
	fprintf(out, "%d</td>", c->suspicion.rank);
	begin_cell(out, "", 2);
	html_foreign(out, c->suspicion.text);
	if (c->suspicion.kind == SUSPICION_ATOMICITY)
		html_sections(out, c);
	fputs("</td>", out);
	for (unsigned i = 0; i < 2; i++) {
		begin_cell(out, "mono", 3 + i);
		html_name(out, c->site[i]);
		fputs("</td>", out);
	}
	begin_cell(out,
		   c->suspicion.confirm == CONFIRM_SEEN || c->suspicion.verdict == SECTION_VERDICT_CONFIRMED ? "harmful" : "",
		   5);
	html_text(out, confirm);
	fputs("</td></tr>\n", out);
}

void html_suspicions(FILE *out, const struct lock_chart *chart)
{
	if (!chart)
		return;
	fprintf(out, "<h2>Suspicions: %zu</h2>\n", chart->suspicion_count);
	fputs("<p class=\"faint\">A suspicion is not a race: the two accesses were not seen in conflict. The worst come "
	      "first.</p>\n",
	      out);
	if (!chart->suspicion_count)
		return;
	fputs("<div class=\"wide\"><table class=\"races\"><thead><tr>", out);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		fprintf(out, "<th%s>%s</th>", i == 1 ? " class=\"number\"" : "", heads[i]);
	fputs("</tr></thead><tbody>\n", out);
	for (size_t i = 0; i < chart->suspicion_count; i++)
		put_suspicion(out, &chart->suspicions[i]);
	fputs("</tbody></table></div>\n", out);
}
