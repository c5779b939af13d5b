// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the races that need attention (summary_is_worse()) and are likely bugs: who accesses what, why this is a bug, and how
 * to see the race again.
 */
#include "hv/campaign/list/html.h"

#include <inttypes.h>
#include <string.h>

#include "hv/export/html.h"
#include "hv/report/device.h"
#include "hv/report/words.h"

#define FRAMES_MAX 3 /* number of calls to show for each side: enough to recognise the operation; the report has all calls */

/* ---- a side ---- */

static void put_source(FILE *out, const struct source_line *line)
{
	if (!line->file[0])
		return;
	fputs("<span class=\"at\">", out);
	html_foreign(out, line->file);
	if (line->line)
		fprintf(out, ":%u", line->line);
	fputs("</span>", out);
}

static void put_frame(FILE *out, const struct race *race, unsigned which, unsigned i)
{
	const struct guest_frame *frame = &race->first.sides[which].calls.frames[i];
	size_t n;
	const struct source_line *line = race_names_lines(race->names, which, i, &n);

	for (size_t k = 0; k + 1 < n; k++) {
		fputs("<li>", out);
		html_foreign(out, line[k].function);
		fputs(" <span class=\"faint\">inlined</span> ", out);
		put_source(out, &line[k]);
		fputs("</li>\n", out);
	}
	fputs("<li>", out);
	if (frame->symbol.name[0]) {
		html_foreign(out, frame->symbol.name);
		fprintf(out, "+0x%" PRIx64 " ", frame->pc - frame->symbol.addr);
	} else {
		fprintf(out, "0x%016" PRIx64 " ", frame->pc);
	}
	if (n)
		put_source(out, &line[n - 1]);
	fputs("</li>\n", out);
}

static void put_side(FILE *out, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	char text[DEVICE_TEXT_MAX];

	fputs("<div class=\"side\">\n<h4>", out);
	if (side->kind == RACE_SIDE_UNSEEN) {
		fputs("Changed by an unseen writer</h4>\n</div>\n", out);
		return;
	}
	if (side->kind == RACE_SIDE_DEVICE) {
		device_kind(&side->device, text);
		html_print(out, "%s by %s</h4>\n</div>\n", access_word(race->rw[which]), text);
		return;
	}
	fprintf(out, "%s in <code>", access_word(race->rw[which]));
	html_name(out, race->site[which]);
	fputs("</code></h4>\n<ol>\n", out);
	for (unsigned i = 0; i < side->calls.count && i < FRAMES_MAX; i++)
		put_frame(out, race, which, i);
	fputs("</ol>\n</div>\n", out);
}

/* ---- links ---- */

/* Write a path as the end of a URL: all bytes that are not plain become %HH. */
static void put_path(FILE *out, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";

	for (; *path; path++) {
		if (strchr(plain, *path))
			fputc(*path, out);
		else
			fprintf(out, "%%%02X", (unsigned)(unsigned char)*path);
	}
}

static void put_link(FILE *out, const char *folder, const char *file, const char *text)
{
	fputs(" <a href=\"file://", out);
	put_path(out, folder);
	fprintf(out, "/%s\">%s</a>", file, text);
}

static void put_run(FILE *out, const struct summary_bug *bug)
{
	if (!bug->run[0])
		return;
	html_print(out, "<p class=\"faint\">Last seen by %s%s%s", bug->run, bug->release[0] ? " on " : "", bug->release);
	/* Write links only if the folder is an absolute path: a store from elsewhere can contain any text here. */
	if (bug->folder[0] == '/') {
		fputs(":", out);
		put_link(out, bug->folder, bug->explored ? "stdout.log" : "races.json", "report");
		put_link(out, bug->folder, "console.log", "console");
		put_link(out, bug->folder, "command", "command and kernel");
	}
	fputs("</p>\n", out);
}

/* ---- a bug ---- */

static void put_bug(FILE *out, const struct summary_bug *bug)
{
	const struct summary_race *r = bug->race;
	const char *change = store_change_word(r->change);

	html_print(out,
		   "<section class=\"bug\">\n<h3><span class=\"%s\">%s</span> <a href=\"#race-%s\">%s</a> <span "
		   "class=\"faint\">%s</span></h3>\n",
		   change, change, r->id, r->datum[0] ? r->datum : r->id, r->subsystem);
	html_print(out, "<p><span class=\"%s\">%s</span>%s%s</p>\n", r->verdict.class == SUMMARY_HARMFUL ? "harmful" : "unsure",
		   summary_class_word(r->verdict.class), r->verdict.evidence[0] ? ": " : "", r->verdict.evidence);
	if (bug->record) {
		fputs("<div class=\"sides\">\n", out);
		put_side(out, bug->record, 0);
		put_side(out, bug->record, 1);
		fputs("</div>\n", out);
	} else {
		html_print(out, "<p>%s against %s</p>\n", r->side[0], r->side[1]);
	}
	put_run(out, bug);
	if (bug->again[0])
		html_print(out, "<details><summary>See it again</summary><pre class=\"again\">%s</pre></details>\n",
			   bug->again);
	fputs("</section>\n", out);
}

void list_html_bugs(FILE *out, const struct summary *m)
{
	if (!m->bug_count)
		return;
	fputs("<h2 class=\"part\">New, back or worse, and likely bugs</h2>\n", out);
	for (size_t i = 0; i < m->bug_count; i++)
		put_bug(out, &m->bugs[i]);
	if (m->more_bugs)
		fprintf(out, "<p class=\"faint\">%zu more are in the table of races.</p>\n", m->more_bugs);
}
