// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/export/html.h"
#include "hv/report/lock_words.h"

static void put_suspicion(FILE *out, const struct chart_suspicion *c)
{
	char confirm[CONFIRM_TEXT_MAX];

	confirm_text(&c->suspicion, confirm);
	fprintf(out, "<tr id=\"suspicion-%s\"><td class=\"id mono\">%s</td><td class=\"number\">%d</td><td>", c->suspicion.id,
		c->suspicion.id, c->suspicion.rank);
	html_foreign(out, c->suspicion.text);
	fputs("</td><td class=\"mono\">", out);
	html_name(out, c->site[0]);
	fputs("</td><td class=\"mono\">", out);
	html_name(out, c->site[1]);
	fprintf(out, "</td><td class=\"%s\">", c->suspicion.confirm == CONFIRM_SEEN ? "harmful" : "");
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
	fputs("<div class=\"wide\"><table class=\"races\"><thead><tr><th>Id</th><th>Rank</th><th>What the locks "
	      "say</th><th>With the "
	      "lock</th><th>Without it</th><th>Confirmed</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < chart->suspicion_count; i++)
		put_suspicion(out, &chart->suspicions[i]);
	fputs("</tbody></table></div>\n", out);
}
