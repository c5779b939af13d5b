// SPDX-License-Identifier: GPL-2.0-or-later
/* The page is complete without its script, which only sorts and filters the table. */
#include <inttypes.h>
#include <string.h>

#include "hv/export/html.h"
#include "hv/report/words.h"

static const char style[] =
#include "page.css.h"
	;

static const char script[] =
#include "page.js.h"
	;

static const char *level_class(enum export_level level)
{
	static const char *const words[] = {
		[EXPORT_HARMFUL] = "harmful", [EXPORT_UNSURE] = "unsure", [EXPORT_BENIGN] = "benign"};

	return words[level];
}

static const char *verdict(const struct export_race *r)
{
	if (r->suppression)
		return "suppressed";
	return r->verdict ? r->verdict : "not judged";
}

static void put_head(FILE *out, const struct export_run *run)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Data races</title>\n<style>\n",
	      out);
	fputs(style, out);
	fputs("</style>\n</head>\n<body>\n<h1>Data races</h1>\n<p class=\"faint\">", out);
	html_text(out, run->kernel ? run->kernel : "The kernel was not found.");
	fputs("<br>outrider ", out);
	html_text(out, run->tool_version);
	fputs("</p>\n", out);
}

static void put_counts(FILE *out, const struct export_run *run)
{
	size_t counts[EXPORT_BENIGN + 1] = {0}, suppressed = 0;

	for (size_t i = 0; i < run->count; i++) {
		suppressed += run->races[i].suppression != NULL;
		counts[run->races[i].level] += run->races[i].suppression == NULL;
	}
	fprintf(out,
		"<div class=\"counts\"><span><b>%zu</b> races</span><span class=\"harmful\"><b>%zu</b> may be harmful</span>"
		"<span class=\"unsure\"><b>%zu</b> unclear or not judged</span><span class=\"benign\"><b>%zu</b> benign or "
		"synchronisation</span>"
		"<span class=\"faint\"><b>%zu</b> suppressed</span></div>\n",
		run->count, counts[EXPORT_HARMFUL], counts[EXPORT_UNSURE], counts[EXPORT_BENIGN], suppressed);
}

static void put_row(FILE *out, const struct export_race *r, size_t order)
{
	const struct race *race = r->race;
	char datum[DATUM_TEXT_MAX];

	fprintf(out,
		"<tr data-race=\"race-%s\"><td class=\"number\">%zu</td><td><a class=\"mono\" href=\"#race-%s\">%s</a></td>",
		race->id, order, race->id, race->id);
	fprintf(out, "<td class=\"%s\">", level_class(r->level));
	html_text(out, verdict(r));
	fputs("</td><td class=\"mono\">", out);
	datum_path(race, datum);
	html_text(out, datum);
	for (int i = 0; i < 2; i++) {
		fprintf(out, "</td><td class=\"mono\">%s ", race->first.sides[i].known ? access_word(race->rw[i]) : "write");
		html_text(out, race->first.sides[i].known ? race->site[i] : "(unseen)");
	}
	fprintf(out, "</td><td class=\"number\">%" PRIu64 "</td></tr>\n", race->count);
}

static void put_table(FILE *out, const struct export_run *run)
{
	fputs("<input id=\"filter\" type=\"search\" placeholder=\"Filter: function, data, verdict\" aria-label=\"Filter "
	      "races\">\n"
	      "<div class=\"wide\"><table class=\"races\">\n<thead><tr><th class=\"number\">#</th><th>Race</th><th>Verdict</th>"
	      "<th>Data</th><th>Held access</th><th>Access in between</th><th "
	      "class=\"number\">Seen</th></tr></thead>\n<tbody>\n",
	      out);
	for (size_t i = 0; i < run->count; i++)
		put_row(out, &run->races[i], i + 1);
	fputs("</tbody>\n</table></div>\n", out);
}

int export_html(FILE *out, const struct export_run *run, struct err *err)
{
	(void)err;
	put_head(out, run);
	put_counts(out, run);
	put_table(out, run);
	for (size_t i = 0; i < run->count; i++)
		html_race(out, &run->races[i], level_class(run->races[i].level), verdict(&run->races[i]));
	fputs("<script>\n", out);
	fputs(script, out);
	fputs("</script>\n</body>\n</html>\n", out);
	return 0;
}
