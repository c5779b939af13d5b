// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/list/html.h"

#include "hv/export/html.h"

const char *list_html_class(enum summary_class class)
{
	static const char *const styles[SUMMARY_CLASSES] = {
		[SUMMARY_HARMFUL] = "harmful",	      [SUMMARY_UNCLEAR] = "unsure", [SUMMARY_UNJUDGED] = "unsure",
		[SUMMARY_SYNCHRONISATION] = "benign", [SUMMARY_BENIGN] = "benign",
	};

	return styles[class];
}

void list_html_verdict(FILE *out, const char *begin, const struct summary_verdict *v)
{
	fprintf(out, "%s<span class=\"%s\">%s</span>", begin, list_html_class(v->class), summary_class_word(v->class));
	if (v->rule[0]) {
		fputs(" by the rule <code>", out);
		html_text(out, v->rule);
		fprintf(out, "</code>, rank %d", v->rank);
	}
	if (v->evidence[0]) {
		fputs(": ", out);
		html_text(out, v->evidence);
	}
	fputs("</p>\n", out);
}
