// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the datum's values before and after a conflict on the HTML page of a report. */
#include <string.h>

#include "hv/export/html.h"
#include "hv/report/words.h"

/* Write the bits in groups of eight, the highest bit first. Bits that differ from `other` are marked. */
static void put_bits(FILE *out, const char *what, const uint8_t *bytes, const uint8_t *other, uint32_t len)
{
	fprintf(out, "<p class=\"bits\">%s ", what);
	for (uint32_t i = len; i-- > 0;) {
		for (int bit = 7; bit >= 0; bit--) {
			bool differs = (bytes[i] ^ other[i]) >> bit & 1;

			fprintf(out, differs ? "<mark>%d</mark>" : "%d", bytes[i] >> bit & 1);
		}
		fputs(i ? " " : "", out);
	}
	fputs("</p>\n", out);
}

static void put_value(FILE *out, const char *what, const char *decoded, const uint8_t *bytes, uint32_t len)
{
	char value[VALUE_TEXT_MAX];

	value_text(bytes, len, value);
	fprintf(out, "%s <code>", what);
	if (decoded && decoded[0]) {
		html_guest(out, decoded, 160);
		fputs("</code>", out);
		if (strcmp(decoded, value) != 0)
			fprintf(out, " <span class=\"faint\">(%s)</span>", value);
	} else {
		fprintf(out, "%s</code>", value);
	}
}

void html_values(FILE *out, const struct race *race)
{
	const struct observation *o = &race->first;
	const struct datum_name *d = race->names ? &race->names->datum[race->names->best] : NULL;

	if (!o->data_len)
		return;
	fputs("<p>", out);
	put_value(out, "Value", d ? d->before : NULL, o->before, o->data_len);
	if (memcmp(o->before, o->after, o->data_len) == 0) {
		fputs(", unchanged when the conflict was seen</p>\n", out);
		return;
	}
	put_value(out, ", then", d ? d->after : NULL, o->after, o->data_len);
	fputs("</p>\n", out);
	if (o->data_len > sizeof(uint64_t))
		return;
	put_bits(out, "before", o->before, o->after, o->data_len);
	put_bits(out, "after&nbsp;", o->after, o->before, o->data_len);
}
