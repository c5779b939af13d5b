// SPDX-License-Identifier: GPL-2.0-or-later
/* The page is complete without its script, which sorts, filters and copies. */
#include <string.h>

#include "hv/export/html.h"

static const char style[] =
#include "page.css.h"
	;

static const char script[] =
#include "page.js.h"
	;

/* The kernel's release, which is the third word of "Linux version RELEASE ...". */
static void put_title(FILE *out, const struct export_run *run)
{
	static const char before[] = "Linux version ";
	const char *release = run->kernel;

	fputs("Data races", out);
	if (!release || strncmp(release, before, strlen(before)) != 0)
		return;
	release += strlen(before);
	fputs(" in Linux ", out);
	html_guest(out, release, strcspn(release, " "));
}

static void put_head(FILE *out, const struct export_run *run)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
	      out);
	put_title(out, run);
	fputs("</title>\n<style>\n", out);
	fputs(style, out);
	fputs("</style>\n</head>\n<body>\n<h1>", out);
	put_title(out, run);
	fputs("</h1>\n", out);
	html_runs(out, run);
}

static void put_counts(FILE *out, const struct export_run *run)
{
	size_t counts[HTML_LEVELS] = {0};

	for (size_t i = 0; i < run->count; i++)
		counts[html_level(&run->races[i])]++;
	fprintf(out, "<div class=\"counts\"><span data-level=\"\"><b>%zu</b> races</span>", run->count);
	for (int i = 0; i < HTML_LEVELS; i++)
		fprintf(out, "<span class=\"%s\" data-level=\"%s\"><b>%zu</b> %s</span>", html_level_class(i),
			html_level_class(i), counts[i], html_level_words(i));
	fputs("</div>\n<input id=\"filter\" type=\"search\" placeholder=\"Filter: function, data, task, file, rule\" "
	      "aria-label=\"Filter races\">\n",
	      out);
}

int export_html(FILE *out, const struct export_run *run, struct err *err)
{
	int rc = 0;

	put_head(out, run);
	put_counts(out, run);
	html_table(out, run);
	fputs("<div id=\"sections\">\n", out);
	for (size_t i = 0; rc == 0 && i < run->count; i++)
		rc = html_race(out, run, &run->races[i], err);
	fputs("</div>\n<p class=\"faint\">outrider ", out);
	html_foreign(out, run->tool_version);
	fputs("</p>\n<script>\n", out);
	fputs(script, out);
	fputs("</script>\n</body>\n</html>\n", out);
	return rc;
}
