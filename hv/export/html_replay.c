// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "hv/export/html.h"
#include "hv/report/replay.h"
#include "hv/report/words.h"

static void put_cell(FILE *out, const char *text)
{
	fputs("<td>", out);
	html_foreign(out, text);
	fputs("</td>", out);
}

static void put_order(FILE *out, const struct race *race, unsigned which)
{
	const struct replay_order *order = &race->replay->telling.orders[which];

	fprintf(out, "<tr><th>%s order</th>", replay_order_word(which));
	put_cell(out, race->site[which]);
	for (unsigned i = 0; i < 2; i++)
		fprintf(out, "<td>%s, %" PRIu64 " instruction%s</td>", replay_end_word(order->regions[i].end),
			order->regions[i].instructions, order->regions[i].instructions == 1 ? "" : "s");
	put_cell(out, replay_machine_word(order->machine));
	put_cell(out, replay_trouble(order));
	fputs("</tr>\n", out);
}

static void put_difference(FILE *out, const struct replay_difference *difference)
{
	char datum[REPLAY_DATUM_MAX], value[VALUE_TEXT_MAX];

	replay_datum(difference, datum);
	fputs("<tr>", out);
	put_cell(out, datum);
	for (int i = 0; i < 2; i++) {
		value_text(difference->bytes[i], difference->len, value);
		put_cell(out, value);
	}
	fputs("</tr>\n", out);
}

static void put_differences(FILE *out, const struct replay_instance *telling)
{
	if (!telling->kept)
		return;
	fputs("<table class=\"replay\"><tr><th>what differs</th><th>after the first order</th><th>after the second "
	      "order</th></tr>\n",
	      out);
	for (uint32_t i = 0; i < telling->kept; i++)
		put_difference(out, &telling->differences[i]);
	fputs("</table>\n", out);
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
	fputs("<table class=\"replay\"><tr><th></th><th>goes first</th><th>first side's region</th><th>second side's "
	      "region</th>"
	      "<th>machine</th><th>trouble</th></tr>\n",
	      out);
	for (unsigned i = 0; i < 2; i++)
		put_order(out, race, i);
	fputs("</table>\n", out);
	put_differences(out, &race->replay->telling);
}
