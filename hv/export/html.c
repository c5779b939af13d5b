// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the HTML page of a report. The page is complete without its script, which adds sorting, filtering and copying. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "hv/export/html.h"
#include "hv/report/text/text.h"

/* Write the page's title with the kernel's release: the third word of "Linux version RELEASE ...". */
static void put_title(FILE *out, const void *ctx)
{
	static const char before[] = "Linux version ";
	const struct export_run *run = ctx;
	const char *release = run->kernel;

	fputs("Data races", out);
	if (!release || strncmp(release, before, strlen(before)) != 0)
		return;
	release += strlen(before);
	fputs(" in Linux ", out);
	html_guest(out, release, strcspn(release, " "));
}

static void put_counts(FILE *out, const struct export_run *run)
{
	size_t counts[HTML_LEVELS] = {0}, races[HTML_LEVELS] = {0}, groups = run->groups ? run->groups->count : 0;

	for (size_t i = 0; i < groups; i++) {
		int level = html_level(&run->races[run->groups->list[i].members[0]]);

		counts[level]++;
		races[level] += run->groups->list[i].count;
	}
	fprintf(out, "<div class=\"counts\"><span data-level=\"\"><b>%zu</b> groups (%zu races)</span>", groups, run->count);
	for (int i = 0; i < HTML_LEVELS; i++) {
		fprintf(out, "<span class=\"%s\" data-level=\"%s\"><b>%zu</b> %s", html_level_class(i), html_level_class(i),
			counts[i], html_level_words(i));
		if (races[i] != counts[i])
			fprintf(out, " (%zu races)", races[i]);
		fputs("</span>", out);
	}
	fputs("</div>\n<input id=\"filter\" type=\"search\" placeholder=\"Filter: function, data, task, file, rule\" "
	      "aria-label=\"Filter races\">\n",
	      out);
}

/*
 * Write a banner for each run that may have found no race only because it did not sample: it is unfinished, armed no sample
 * point, had no hit, or opened no window (enum run_doubt).
 */
static void put_doubts(FILE *out, const struct export_run *run)
{
	char text[RUN_DOUBT_TEXT_MAX];

	for (size_t i = 0; i < run->run_count; i++) {
		if (run_doubt(&run->runs[i]) == RUN_SOUND)
			continue;
		run_doubt_text(&run->runs[i], text);
		fputs("<p class=\"doubt\" role=\"alert\">", out);
		if (run->run_count > 1)
			fprintf(out, "Run %zu: ", i + 1);
		else
			text[0] = (char)toupper((unsigned char)text[0]);
		html_foreign(out, text);
		fputs(".</p>\n", out);
	}
}

/* Write the complaints of a run's kernel, worded as in the text report. */
static int put_complaints(FILE *out, const struct run_facts *run, struct err *err)
{
	const struct text_style plain = {0};
	char *text = NULL;
	size_t len = 0;
	FILE *memory;

	if (!run->complaints.count)
		return 0;
	memory = open_memstream(&text, &len);
	for (size_t i = 0; memory && i < run->complaints.count; i++)
		text_complaint(memory, &run->complaints.list[i], &plain);
	if (!memory || fclose(memory) != 0) {
		free(text);
		return err_set(err, EXIT_INTERNAL, "out of memory while exporting");
	}
	fputs("<section class=\"complaints\"><h2>What the guest's kernel complained of</h2>\n<pre>", out);
	html_foreign(out, text);
	fputs("</pre></section>\n", out);
	free(text);
	return 0;
}

/* Write the section of a group: the section of its lead, and below it, in a closed <details>, the sections of the others. */
static int put_group(FILE *out, const struct export_run *run, const struct group *group, struct err *err)
{
	int rc;

	fprintf(out, "<div class=\"group\" id=\"group-%s\">\n", group->id);
	rc = html_race(out, run, &run->races[group->members[0]], err);
	fprintf(out, "<p class=\"faint key\">group <span class=\"mono\">%s</span>: ", group->id);
	html_name(out, group->text);
	fputs("</p>\n", out);
	if (group->count > 1)
		fprintf(out, "<details class=\"others\"><summary>%zu more race%s of this group</summary>\n", group->count - 1,
			group->count == 2 ? "" : "s");
	for (size_t i = 1; rc == 0 && i < group->count; i++)
		rc = html_race(out, run, &run->races[group->members[i]], err);
	if (group->count > 1)
		fputs("</details>\n", out);
	fputs("</div>\n", out);
	return rc;
}

int export_html(FILE *out, const struct export_run *run, struct err *err)
{
	int rc = 0;

	html_page_begin(out, put_title, run, "");
	put_doubts(out, run);
	html_runs(out, run);
	for (size_t i = 0; rc == 0 && i < run->run_count; i++)
		rc = put_complaints(out, &run->runs[i], err);
	put_counts(out, run);
	html_table(out, run);
	fputs("<div id=\"sections\">\n", out);
	for (size_t i = 0; rc == 0 && run->groups && i < run->groups->count; i++)
		rc = put_group(out, run, &run->groups->list[i], err);
	fputs("</div>\n", out);
	html_suspicions(out, run->locks);
	html_page_end(out, run->tool_version);
	return rc;
}
