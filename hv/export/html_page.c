// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/export/html.h"

static const char style[] =
#include "page.css.h"
	;

static const char script[] =
#include "page.js.h"
	;

void html_page_begin(FILE *out, void (*title)(FILE *out, const void *ctx), const void *ctx, const char *more_style)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
	      out);
	title(out, ctx);
	fputs("</title>\n<style>\n", out);
	fputs(style, out);
	fputs(more_style, out);
	fputs("</style>\n</head>\n<body>\n<h1>", out);
	title(out, ctx);
	fputs("</h1>\n", out);
}

void html_page_end(FILE *out, const char *version)
{
	fputs("<p class=\"faint\">outrider ", out);
	html_foreign(out, version);
	fputs("</p>\n<script>\n", out);
	fputs(script, out);
	fputs("</script>\n</body>\n</html>\n", out);
}
