// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the section of one race on the HTML page of a report. */
#include <inttypes.h>
#include <stdlib.h>

#include "hv/export/html.h"
#include "hv/race/race_key.h"
#include "hv/report/words.h"

/* Write the race in the format of KCSAN's reports, for the user to copy into a mail. */
static int put_kcsan(FILE *out, const struct export_run *run, const struct export_race *r, struct err *err)
{
	struct export_run one = *run;
	struct export_race shown = *r;
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	int rc = -1;

	if (!memory)
		return err_set(err, EXIT_INTERNAL, "out of memory while exporting");
	shown.folded = false;
	one.races = &shown;
	one.count = 1;
	rc = export_kcsan(memory, &one, err);
	if (fclose(memory) != 0 && rc == 0)
		rc = err_set(err, EXIT_INTERNAL, "out of memory while exporting");
	if (rc == 0) {
		fputs("<details class=\"kcsan\"><summary>As KCSAN text</summary><pre>", out);
		html_text(out, text);
		fputs("</pre></details>\n", out);
	}
	free(text);
	return rc;
}

static void put_title(FILE *out, const struct export_race *r)
{
	char title[EXPORT_TITLE_MAX];

	export_title(r->race, title);
	fputs("<h2>", out);
	html_text(out, title);
	fprintf(out, " <a class=\"anchor\" href=\"#race-%s\" aria-label=\"Link to this race\">#</a></h2>\n", r->race->id);
}

static void put_verdict(FILE *out, const struct export_race *r)
{
	fprintf(out, "<p><span class=\"%s\">", html_level_class(html_level(r)));
	html_text(out, html_verdict(r));
	fputs("</span>", out);
	if (r->verdict) {
		fputs(" by the rule <code>", out);
		html_text(out, r->rule->name);
		fprintf(out, "</code>, rank %d", r->rank);
	}
	if (r->suppression || r->evidence) {
		fputs(": ", out);
		html_foreign(out, r->suppression ? r->suppression : r->evidence);
	}
	fputs("</p>\n", out);
}

static void put_facts(FILE *out, const struct export_run *run, const struct race *race)
{
	char memory[DATUM_TEXT_MAX];
	struct race_key key;

	race_key(race, &key);
	fprintf(out,
		"<p class=\"faint\">race <span class=\"mono\">%s</span>, in every build <span class=\"mono\">%s</span>, seen "
		"%" PRIu64 " time%s, first %.3f s into the run by %s, %.3f ms into the window; physical 0x%" PRIx64 "</p>\n",
		race->id, key.identity, race->count, race->count == 1 ? "" : "s", (double)race->first_ns / 1e9,
		how_word(race->first.how), (double)race->first.held_ns / 1e6, race->first.gpa);
	html_times(out, run, race);
	if (datum_memory(&race->first.memory, memory)) {
		fputs("<p>Memory: ", out);
		html_text(out, memory);
		fputs("</p>\n", out);
	}
}

int html_race(FILE *out, const struct export_run *run, const struct export_race *r, struct err *err)
{
	int rc;

	fprintf(out, "<section class=\"race\" id=\"race-%s\">\n", r->race->id);
	put_title(out, r);
	put_verdict(out, r);
	fprintf(out, "<details class=\"body\"%s><summary>Both sides</summary>\n", r->folded ? "" : " open");
	put_facts(out, run, r->race);
	html_values(out, r->race);
	fputs("<div class=\"sides\">\n", out);
	html_side(out, run, r->race, 0);
	html_side(out, run, r->race, 1);
	fputs("</div>\n", out);
	html_timeline(out, r->race);
	html_replay(out, r->race);
	rc = put_kcsan(out, run, r, err);
	fputs("</details>\n</section>\n", out);
	return rc;
}
