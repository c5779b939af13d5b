// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/export/html.h"

static const struct {
	const char *class;
	const char *words;
} levels[HTML_LEVELS] = {
	[EXPORT_HARMFUL] = {"harmful", "may be harmful"},
	[EXPORT_UNSURE] = {"unsure", "unclear or not judged"},
	[EXPORT_BENIGN] = {"benign", "benign or synchronisation"},
	[HTML_SUPPRESSED] = {"suppressed", "suppressed"},
};

int html_level(const struct export_race *r)
{
	return r->suppression ? HTML_SUPPRESSED : (int)r->level;
}

const char *html_level_class(int level)
{
	return levels[level].class;
}

const char *html_level_words(int level)
{
	return levels[level].words;
}

const char *html_verdict(const struct export_race *r)
{
	if (r->suppression)
		return "suppressed";
	return r->verdict ? r->verdict : "not judged";
}
