// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a round summary as an HTML page. The page uses the style sheet and the script of the page that `outrider report`
 * makes, and has the table and the sections that this script works on.
 */
#include "hv/campaign/list/html.h"

#include <stdlib.h>
#include <string.h>

#include "hv/campaign/list/list.h"
#include "hv/campaign/list/sentences.h"
#include "hv/export/html.h"

static const char style[] =
#include "list.css.h"
	;

static void put_title(FILE *out, const void *ctx)
{
	const struct summary *m = ctx;

	html_print(out, "%s: ", m->campaign);
	list_rounds_put(out, m);
}

/*
 * Write the answer `answer`, one line at the top of the page, in the words of list_answer_put(). Escape these words, because
 * some of them can come from the store.
 */
static void put_escaped(FILE *out, const struct summary *m, enum list_answer answer)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	list_answer_put(memory, m, answer);
	if (fclose(memory) == 0)
		html_text(out, text);
	free(text);
}

static void put_answers(FILE *out, const struct summary *m)
{
	fputs("<p>", out);
	list_when_put(out, m);
	fputs("</p>\n<dl class=\"answers\">\n", out);
	for (int i = 0; i < LIST_ANSWERS; i++) {
		enum list_answer answer = (enum list_answer)i;

		fprintf(out, "<dt>%s</dt><dd%s>", list_answer_word(answer),
			list_answer_is_bad(m, answer) ? " class=\"harmful\"" : "");
		put_escaped(out, m, answer);
		fputs("</dd>\n", out);
	}
	fputs("</dl>\n", out);
}

/* ---- findings ---- */

static void put_line(FILE *out, const char *what, const char *text)
{
	if (text[0])
		html_print(out, "<p>%s<code>%s</code></p>\n", what, text);
}

static void put_findings(FILE *out, const struct summary *m)
{
	if (m->finding_count)
		fputs("<h2 class=\"part\">What broke</h2>\n", out);
	for (size_t i = 0; i < m->finding_count; i++) {
		const struct summary_finding *f = &m->findings[i];

		html_print(out, "<section class=\"finding\">\n<p><span class=\"%s\">%s</span> %s",
			   f->is_new ? "harmful" : "unsure", f->kind, f->run);
		fputs(f->is_new ? "</p>\n" : " <span class=\"faint\">not for the first time</span></p>\n", out);
		put_line(out, "", f->line);
		put_line(out, strcmp(list_file_word(f->console), "scenario") == 0 ? "Scenario: " : "Console: ", f->console);
		put_line(out, "Again: ", f->command);
		fputs("</section>\n", out);
	}
}

/* ---- the table of subsystems ---- */

static void put_subsystems(FILE *out, const struct summary *m)
{
	size_t count;
	struct list_subsystem *list = list_subsystems(m, &count);

	if (count)
		fputs("<h2 class=\"part\">Races by subsystem</h2>\n<div class=\"wide\"><table "
		      "class=\"plain\"><thead><tr><th>Subsystem</th><th class=\"number\">Worse</th><th "
		      "class=\"number\">Changed</th><th class=\"number\">All</th></tr></thead><tbody>\n",
		      out);
	for (size_t i = 0; i < count; i++)
		html_print(out,
			   "<tr><td>%s</td><td class=\"number\">%zu</td><td class=\"number\">%zu</td><td "
			   "class=\"number\">%zu</td></tr>\n",
			   list[i].name, list[i].worse, list[i].shown, list[i].all);
	if (count)
		fputs("</tbody></table></div>\n", out);
	free(list);
}

/* ---- the races' head ---- */

static void put_counts(FILE *out, const struct summary *m)
{
	fprintf(out, "<h2 class=\"part\">Races</h2>\n<div class=\"counts\"><span data-level=\"\"><b>%zu</b> races</span>",
		m->race_count);
	for (int i = 0; i < STORE_CHANGES; i++) {
		const char *word = store_change_word((enum store_change)i);

		fprintf(out, "<span class=\"%s\" data-level=\"%s\"><b>%zu</b> %s</span>", word, word,
			summary_of(m, (enum store_change)i), word);
	}
	fputs("</div>\n<input id=\"filter\" type=\"search\" placeholder=\"Filter: function, data, subsystem, rule, kernel\" "
	      "aria-label=\"Filter races\">\n",
	      out);
}

void list_html(FILE *out, const struct summary *m)
{
	html_page_begin(out, put_title, m, style);
	put_answers(out, m);
	list_html_bugs(out, m);
	put_findings(out, m);
	list_html_plots(out, m);
	put_subsystems(out, m);
	put_counts(out, m);
	list_html_races(out, m);
	fputs("<p class=\"faint\">", out);
	list_effort_put(out, m);
	html_print(out, "<br>from %s</p>\n", m->store);
	html_page_end(out, m->version);
}
