// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the output of `outrider locks` as text. */
#include <inttypes.h>
#include <string.h>

#include "hv/export/assertions.h"
#include "hv/export/locks.h"
#include "hv/report/lock_words.h"
#include "hv/report/locks/suspicion_key.h"

/*
 * A line about a datum names at most this many of the functions that access the datum without its lock. The line only counts
 * the other functions.
 */
#define MISSING_SHOWN 4

bool export_locks_shows(const struct export_locks *locks, const struct chart_datum *d)
{
	return d->total && (locks->all || (d->lock[0] && d->writes));
}

/* Write in one sentence what the two critical sections of an atomicity suspicion do to one datum, and what comes in between. */
static void put_sections(FILE *out, const struct chart_suspicion *c)
{
	char first[SITE_NAME_MAX], second[SITE_NAME_MAX], between[SITE_NAME_MAX];

	suspicion_function(c->site[0], first);
	suspicion_function(c->site[1], second);
	suspicion_function(c->between, between);
	fprintf(out, "              %s() %s and ", chart_function(first), atomicity_step_words(c->suspicion.pattern, 0));
	if (strcmp(first, second) != 0)
		fprintf(out, "%s() ", chart_function(second));
	fprintf(out, "%s, under %s%s%s in two sections", atomicity_step_words(c->suspicion.pattern, 2), c->lock,
		c->second_lock[0] ? " and " : "", c->second_lock);
	if (c->caller[0])
		fprintf(out, " of %s()", chart_function(c->caller));
	fprintf(out, "; %s() %s in between, at %s\n", chart_function(between), atomicity_step_words(c->suspicion.pattern, 1),
		c->between);
}

static void put_suspicions(FILE *out, const struct lock_chart *chart)
{
	char confirm[CONFIRM_TEXT_MAX];

	fprintf(out, "SUSPICIONS  %zu%s\n", chart->suspicion_count,
		chart->suspicion_count
			? ", the worst first; a suspicion is not a race: the two accesses were not seen in conflict"
			: "");
	for (size_t i = 0; i < chart->suspicion_count; i++) {
		const struct chart_suspicion *c = &chart->suspicions[i];

		fprintf(out, "%s  rank %d  %s\n", c->suspicion.id, c->suspicion.rank, c->suspicion.text);
		fprintf(out, "              %s  <->  %s\n", c->site[0], c->site[1]);
		if (c->suspicion.kind == SUSPICION_ATOMICITY)
			put_sections(out, c);
		confirm_text(&c->suspicion, confirm);
		fprintf(out, "              %s\n", confirm);
	}
}

static void put_missing(FILE *out, const struct chart_datum *d)
{
	if (!d->missing_count)
		return;
	fputs("; not in ", out);
	for (size_t i = 0; i < d->missing_count && i < MISSING_SHOWN; i++)
		fprintf(out, "%s%s() (%" PRIu64 ")", i ? ", " : "", chart_function(d->missing[i].function),
			d->missing[i].count);
	if (d->missing_count > MISSING_SHOWN)
		fprintf(out, " and %zu more", d->missing_count - MISSING_SHOWN);
	if (d->rcu)
		fprintf(out, "; %" PRIu64 " reads were in RCU sections", d->rcu);
}

static void put_datum(FILE *out, const struct chart_datum *d)
{
	const char *member = d->name + d->owner_len;

	fprintf(out, "  %-28s ", *member ? member : "(all of it)");
	if (d->lock[0])
		fprintf(out, "%s held in %" PRIu64 " of %" PRIu64 " accesses", d->lock, d->held, d->total);
	else
		fprintf(out, "no lock in %" PRIu64 " accesses, %" PRIu64 " of them writes", d->total, d->writes);
	put_missing(out, d);
	fputc('\n', out);
}

static bool same_owner(const struct chart_datum *a, const struct chart_datum *b)
{
	return a->owner_len == b->owner_len && !strncmp(a->name, b->name, a->owner_len);
}

static void put_data(FILE *out, const struct export_locks *l)
{
	const struct chart_datum *last = NULL;

	for (size_t i = 0; i < l->chart->count; i++) {
		const struct chart_datum *d = &l->chart->data[i];

		if (!export_locks_shows(l, d))
			continue;
		if (!last || !same_owner(last, d))
			fprintf(out, "\n%.*s\n", (int)d->owner_len, d->name);
		last = d;
		put_datum(out, d);
	}
}

static void put_together(FILE *out, const struct lock_chart *chart)
{
	char text[CHART_TOGETHER_TEXT_MAX];

	if (chart->together.count)
		fputs("\nCHANGED TOGETHER, but for some functions\n", out);
	for (size_t i = 0; i < chart->together.count; i++) {
		chart_together_text(&chart->together.list[i], text);
		fprintf(out, "  %s\n", text);
	}
}

static void put_sum(FILE *out, const struct export_locks *l)
{
	size_t always = 0, partly = 0, never = 0, read_only = 0, alone = 0;

	for (size_t i = 0; i < l->chart->count; i++) {
		const struct chart_datum *d = &l->chart->data[i];

		if (!d->total)
			alone++;
		else if (!d->writes)
			read_only++;
		else if (!d->lock[0])
			never++;
		else if (d->held == d->total)
			always++;
		else
			partly++;
	}
	fprintf(out, "\ndata: %zu always under one lock, %zu sometimes, %zu under none, %zu only read%s, %zu never shared\n",
		always, partly, never, read_only, l->all ? "" : " (--all lists them)", alone);
	for (unsigned i = 0; i < PROTECT_LEFT_OUT; i++) {
		if (l->chart->left_out[i])
			fprintf(out, "%" PRIu64 " pairs of accesses %s are not suspected\n", l->chart->left_out[i],
				left_out_phrase(i));
	}
	if (l->chart->lost)
		fprintf(out, "%" PRIu64 " lock events or pairs were dropped, because there were too many\n", l->chart->lost);
}

int export_locks_text(FILE *out, const struct export_locks *locks, struct err *err)
{
	(void)err;
	assertions_text(out, locks->assertions);
	put_suspicions(out, locks->chart);
	put_data(out, locks);
	put_together(out, locks->chart);
	put_sum(out, locks);
	return 0;
}
