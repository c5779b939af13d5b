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
		html_print(out, " by the rule <code>%s</code>", v->rule);
		fprintf(out, ", rank %d", v->rank);
	}
	html_print(out, "%s%s</p>\n", v->evidence[0] ? ": " : "", v->evidence);
}

void list_html_race(FILE *out, const struct summary_race *r)
{
	html_print(out, "%s against %s%s%s", r->side[0], r->side[1], r->datum[0] ? ": " : "", r->datum);
}
