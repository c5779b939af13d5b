// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/export/html.h"

void html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

void html_guest(FILE *out, const char *text, size_t size)
{
	char clean[EXPORT_NAME_MAX];

	export_text(text, size, clean);
	html_text(out, clean);
}
