// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes texts as HTML: escapes them and, if they are not Outrider's own, makes them printable first (html.h). */
#include <stdarg.h>
#include <string.h>

#include "hv/export/html.h"

/* Maximum number of bytes that are written of one untrusted string. */
#define FOREIGN_MAX 1024

static void put(FILE *out, char c)
{
	switch (c) {
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
		fputc(c, out);
	}
}

void html_text(FILE *out, const char *text)
{
	for (; *text; text++)
		put(out, *text);
}

void html_print(FILE *out, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	for (; *format; format++) {
		if (*format != '%') {
			fputc(*format, out);
			continue;
		}
		format++;
		format += *format == 'z' || *format == 'l';
		if (*format == 's')
			html_text(out, va_arg(ap, const char *));
		else if (format[-1] == '%')
			fprintf(out, "%u", va_arg(ap, unsigned));
		else
			fprintf(out, "%zu", va_arg(ap, size_t)); /* also for %lu: both have 64 bits */
	}
	va_end(ap);
}

void html_name(FILE *out, const char *text)
{
	char clean[CLEAN_MAX(FOREIGN_MAX)];

	clean_text(text, FOREIGN_MAX, clean, sizeof(clean));
	for (const char *c = clean; *c; c++) {
		if (*c == '+' || *c == '.' || *c == '-')
			fputs("<wbr>", out);
		put(out, *c);
		if (*c == ':' || *c == '_')
			fputs("<wbr>", out);
	}
}

void html_guest(FILE *out, const char *text, size_t size)
{
	char clean[EXPORT_NAME_MAX];

	export_text(text, size, clean);
	html_text(out, clean);
}

void html_foreign(FILE *out, const char *text)
{
	char clean[CLEAN_MAX(FOREIGN_MAX)];

	clean_text(text, FOREIGN_MAX, clean, sizeof(clean));
	html_text(out, clean);
	if (strnlen(text, FOREIGN_MAX + 1) > FOREIGN_MAX)
		fputs("...", out);
}
