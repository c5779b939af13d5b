// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the groups of a report as lines of text: totals, a table, and the other races of a group. */
#include <inttypes.h>

#include "hv/report/datum.h"
#include "hv/report/text/text.h"
#include "pruner/groups.h"

/* The kinds of group in the line of totals: one for each class of verdict, and one for suppressed groups. */
#define SUPPRESSED (VERDICT_BENIGN + 1)
#define KINDS (SUPPRESSED + 1)

struct total {
	size_t groups, races;
};

static void put_total(FILE *out, const struct total *t, const char *one, const char *several)
{
	fprintf(out, "%zu %s", t->groups, t->groups == 1 ? one : several);
	if (t->races != t->groups)
		fprintf(out, " (%zu races)", t->races);
}

void groups_sum(FILE *out, const struct groups *g)
{
	struct total of[KINDS] = {0};

	for (size_t i = 0; i < g->count; i++) {
		struct total *t = &of[g->list[i].lead->suppressed ? SUPPRESSED : g->list[i].lead->verdict.class];

		t->groups++;
		t->races += g->list[i].count;
	}
	put_total(out, &of[VERDICT_HARMFUL], "likely bug", "likely bugs");
	fputs(", ", out);
	put_total(out, &of[VERDICT_UNCLEAR], "unclear", "unclear");
	fputs(", ", out);
	put_total(out, &of[VERDICT_SYNCHRONISATION], "synchronisation", "synchronisation");
	fputs(", ", out);
	put_total(out, &of[VERDICT_BENIGN], "benign", "benign");
	if (of[SUPPRESSED].groups) {
		fputs("; ", out);
		put_total(out, &of[SUPPRESSED], "suppressed", "suppressed");
	}
	fputc('\n', out);
}

static const char *verdict_word(const struct judged *j)
{
	return j->suppressed ? "suppressed" : verdict_class_word(j->verdict.class);
}

void groups_table(FILE *out, const struct groups *g)
{
	char datum[DATUM_TEXT_MAX];

	if (g->count)
		fprintf(out, "  %-12s %4s %-17s %5s %7s  %s\n", "race", "rank", "verdict", "races", "seen", "sites");
	for (size_t i = 0; i < g->count; i++) {
		const struct judged *lead = g->list[i].lead;

		fprintf(out, "  %s %4d %-17s %5zu %7" PRIu64 "  ", lead->race->id, lead->verdict.rank, verdict_word(lead),
			g->list[i].count, g->list[i].seen);
		text_sites(out, lead->race);
		if (datum_path(lead->race, datum))
			fprintf(out, "  %s", datum);
		fputc('\n', out);
	}
}

void groups_others(FILE *out, const struct groups *g, const struct verdicts *v, size_t index)
{
	const struct group *group = groups_of(g, index);

	for (size_t i = 0; i < group->count; i++) {
		const struct judged *j = &v->list[group->members[i]];

		if (group->members[i] == index)
			continue;
		fprintf(out, "           %s %2d %s, %s, seen %" PRIu64 ": ", j->race->id, j->verdict.rank, verdict_word(j),
			rule_name(j->verdict.rule), j->race->count);
		text_sites(out, j->race);
		fputc('\n', out);
	}
}
