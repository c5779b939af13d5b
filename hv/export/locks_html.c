// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the output of `outrider locks` as an HTML page. */
#include <inttypes.h>
#include <string.h>

#include "hv/export/assertions.h"
#include "hv/export/html.h"
#include "hv/export/locks.h"
#include "hv/report/lock_words.h"

static void put_title(FILE *out, const void *ctx)
{
	(void)ctx;
	fputs("Locks and their data", out);
}

static void put_files(FILE *out, const struct export_locks *l)
{
	fputs("<dl class=\"run\">\n", out);
	for (size_t i = 0; i < l->file_count; i++) {
		fputs("<dt>file</dt><dd>", out);
		html_foreign(out, l->files[i]);
		fputs("</dd>\n", out);
	}
	fputs("</dl>\n", out);
}

static void put_missing(FILE *out, const struct chart_datum *d)
{
	for (size_t i = 0; i < d->missing_count; i++) {
		fputs(i ? ", " : "", out);
		html_name(out, chart_function(d->missing[i].function));
		fprintf(out, "() %" PRIu64, d->missing[i].count);
	}
}

static const struct {
	const char *head, *classes;
} columns[] = {{"Member", "mono"},   {"Lock", "mono"},	      {"Held", "number"},
	       {"Writes", "number"}, {"RCU reads", "number"}, {"Not in", "mono"}};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Begin the cell of a column. On a narrow screen the cell shows its column's head, since the table's head is hidden. */
static void begin_cell(FILE *out, unsigned column, const char *more_class)
{
	fprintf(out, "<td class=\"%s%s\" data-label=\"%s\">", columns[column].classes, more_class, columns[column].head);
}

static void put_datum(FILE *out, const struct chart_datum *d)
{
	const char *level = !d->lock[0] ? " faint" : d->held == d->total ? " benign" : " unsure";

	fputs("<tr>", out);
	begin_cell(out, 0, "");
	html_name(out, d->name + d->owner_len);
	fputs("</td>", out);
	begin_cell(out, 1, "");
	html_name(out, d->lock[0] ? d->lock : "none");
	fputs("</td>", out);
	begin_cell(out, 2, level);
	fprintf(out, "%" PRIu64 " of %" PRIu64 "</td>", d->held, d->total);
	begin_cell(out, 3, "");
	fprintf(out, "%" PRIu64 "</td>", d->writes);
	begin_cell(out, 4, "");
	fprintf(out, "%" PRIu64 "</td>", d->rcu);
	begin_cell(out, 5, "");
	put_missing(out, d);
	fputs("</td></tr>\n", out);
}

/* Begin the table of the members of one struct or cache, or of the parts of one variable. */
static void begin_owner(FILE *out, const struct chart_datum *d)
{
	fputs("<h3 class=\"mono\">", out);
	html_guest(out, d->name, d->owner_len);
	fputs("</h3>\n<div class=\"wide\"><table class=\"races\"><thead><tr>", out);
	for (size_t i = 0; i < COLUMNS; i++)
		fprintf(out, "<th%s>%s</th>", columns[i].classes[0] == 'n' ? " class=\"number\"" : "", columns[i].head);
	fputs("</tr></thead><tbody>\n", out);
}

static void put_data(FILE *out, const struct export_locks *l)
{
	const struct chart_datum *last = NULL;

	fputs("<h2>Data and their locks</h2>\n", out);
	for (size_t i = 0; i < l->chart->count; i++) {
		const struct chart_datum *d = &l->chart->data[i];

		if (!export_locks_shows(l, d))
			continue;
		if (!last || last->owner_len != d->owner_len || strncmp(last->name, d->name, d->owner_len)) {
			fputs(last ? "</tbody></table></div>\n" : "", out);
			begin_owner(out, d);
		}
		last = d;
		put_datum(out, d);
	}
	fputs(last ? "</tbody></table></div>\n" : "<p>No datum was accessed under a lock.</p>\n", out);
}

static void put_together(FILE *out, const struct lock_chart *chart)
{
	char text[CHART_TOGETHER_TEXT_MAX];

	if (!chart->together.count)
		return;
	fputs("<h2>Data that most functions change together, and some do not</h2>\n<ul id=\"together\">\n", out);
	for (size_t i = 0; i < chart->together.count; i++) {
		chart_together_text(&chart->together.list[i], text);
		fputs("<li>", out);
		html_foreign(out, text);
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
}

static void put_left_out(FILE *out, const struct lock_chart *chart)
{
	fputs("<h2>Not suspected</h2>\n<ul>\n", out);
	for (unsigned i = 0; i < PROTECT_LEFT_OUT; i++) {
		if (chart->left_out[i])
			fprintf(out, "<li>%" PRIu64 " pairs of accesses %s</li>\n", chart->left_out[i], left_out_phrase(i));
	}
	fprintf(out, "<li>%" PRIu64 " lock events or pairs were dropped, because there were too many</li>\n</ul>\n",
		chart->lost);
}

int export_locks_html(FILE *out, const struct export_locks *locks, struct err *err)
{
	(void)err;
	html_page_begin(out, put_title, NULL, "h2 { margin: 1.5rem 0 .5rem; } h3 { margin: 1rem 0 .25rem; }\n");
	put_files(out, locks);
	assertions_html(out, locks->assertions);
	html_suspicions(out, locks->chart);
	put_data(out, locks);
	put_together(out, locks->chart);
	put_left_out(out, locks->chart);
	html_page_end(out, locks->tool_version);
	return 0;
}
