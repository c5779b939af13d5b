// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the results of running a race in both orders on the HTML page of a report. */
#include <inttypes.h>

#include "hv/export/html.h"
#include "hv/report/replay.h"
#include "hv/report/words.h"

static const char *const order_heads[] = {"",	     "Goes first", "First side's region", "Second side's region",
					  "Machine", "Trouble"};
static const char *const difference_heads[] = {"What differs", "After the first order", "After the second order"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void put_head(FILE *out, const char *const *heads, size_t n)
{
	fputs("<table class=\"replay\"><thead><tr>", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "<th>%s</th>", heads[i]);
	fputs("</tr></thead>\n<tbody>\n", out);
}

/* Begin a cell. A narrow screen shows the label, since the table's head is hidden there. */
static void begin_cell(FILE *out, const char *label)
{
	fprintf(out, "<td data-label=\"%s\">", label);
}

static void put_cell(FILE *out, const char *label, const char *text)
{
	begin_cell(out, label);
	html_foreign(out, text);
	fputs("</td>", out);
}

static void put_order(FILE *out, const struct race *race, unsigned which)
{
	const struct replay_order *order = &race->replay->telling.orders[which];

	fprintf(out, "<tr><th>%s order</th>", replay_order_word(which));
	put_cell(out, order_heads[1], race->site[which]);
	for (unsigned i = 0; i < 2; i++) {
		begin_cell(out, order_heads[2 + i]);
		fprintf(out, "%s, %" PRIu64 " instruction%s</td>", replay_end_word(order->regions[i].end),
			order->regions[i].instructions, order->regions[i].instructions == 1 ? "" : "s");
	}
	put_cell(out, order_heads[4], replay_machine_word(order->machine));
	put_cell(out, order_heads[5], replay_trouble(order));
	fputs("</tr>\n", out);
}

static void put_difference(FILE *out, const struct replay_difference *difference)
{
	char datum[REPLAY_DATUM_MAX], value[VALUE_TEXT_MAX];

	replay_datum(difference, datum);
	fputs("<tr>", out);
	put_cell(out, difference_heads[0], datum);
	for (int i = 0; i < 2; i++) {
		value_text(difference->bytes[i], difference->len, value);
		put_cell(out, difference_heads[1 + i], value);
	}
	fputs("</tr>\n", out);
}

static void put_differences(FILE *out, const struct replay_instance *telling)
{
	if (!telling->kept)
		return;
	put_head(out, difference_heads, COUNT(difference_heads));
	for (uint32_t i = 0; i < telling->kept; i++)
		put_difference(out, &telling->differences[i]);
	fputs("</tbody></table>\n", out);
}

void html_replay(FILE *out, const struct race *race)
{
	char lines[REPLAY_LINES_MAX][REPLAY_LINE_MAX];
	unsigned n = replay_lines(race, lines);

	if (!n)
		return;
	fputs("<h3>Both orders</h3>\n", out);
	for (unsigned i = 0; i < n; i++) {
		fputs("<p>", out);
		html_foreign(out, lines[i]);
		fputs("</p>\n", out);
	}
	put_head(out, order_heads, COUNT(order_heads));
	for (unsigned i = 0; i < 2; i++)
		put_order(out, race, i);
	fputs("</tbody></table>\n", out);
	put_differences(out, &race->replay->telling);
}
