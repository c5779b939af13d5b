// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fills a round summary (summary.h) from the store: runs the queries, and calls the functions that fill its parts
 * (fill_internal.h).
 */
#include "hv/campaign/list/fill.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/list/fill_internal.h"

/* Choose the campaign of the summary: the query's campaign or, if the query names none, that of the round that started last. */
static int choose_campaign(struct fill *f)
{
	struct store_rounds_query q = {.last = 1};
	struct store_rounds last = {0};
	int rc = 0;

	if (f->query->campaign) {
		f->m->campaign = fill_line(f, f->query->campaign);
		return 0;
	}
	if (store_rounds(f->store, &q, &last, f->err) < 0)
		return -1;
	if (!last.count)
		rc = err_set(f->err, EXIT_INPUT, "%s: no round of any campaign is in this store", store_where(f->store));
	else
		f->m->campaign = fill_line(f, last.list[0].campaign);
	store_rounds_free(&last);
	return rc;
}

static int get_rounds(struct fill *f)
{
	struct store_rounds_query q = {.campaign = f->query->campaign ? f->query->campaign : f->m->campaign};

	if (store_rounds(f->store, &q, &f->rounds, f->err) < 0)
		return -1;
	if (!f->rounds.count)
		return err_set(f->err, EXIT_INPUT, "%s: no round of the campaign %s is in this store", store_where(f->store),
			       f->m->campaign);
	return 0;
}

/*
 * Find a round by its number or, if no round has that number, by the start of its uuid. A uuid can begin with digits, too. Of
 * several rounds with the same number, take the last.
 */
static int find_round(struct fill *f, const char *name, size_t *index)
{
	char number[24];

	if (strncmp(name, STORE_ROUND_WORD, strlen(STORE_ROUND_WORD)) == 0)
		name += strlen(STORE_ROUND_WORD);
	for (size_t i = f->rounds.count; i-- > 0;) {
		snprintf(number, sizeof(number), "%" PRIu64, f->rounds.list[i].number);
		if (strcmp(name, number) == 0) {
			*index = i;
			return 0;
		}
	}
	for (size_t i = f->rounds.count; i-- > 0 && strlen(name) >= 4;) {
		if (strncmp(name, f->rounds.list[i].uuid, strlen(name)) == 0) {
			*index = i;
			return 0;
		}
	}
	return err_set(f->err, EXIT_INPUT, "%s: the campaign %s has no round %.40s; its rounds are %" PRIu64 " to %" PRIu64,
		       store_where(f->store), f->m->campaign, name, f->rounds.list[0].number,
		       f->rounds.list[f->rounds.count - 1].number);
}

/*
 * Choose the base round, with which the selected rounds are compared: the round that the query names or, if it names none, the
 * round before the selected round. A query with `since` selects all rounds after the base round.
 */
static int choose_base(struct fill *f)
{
	const char *base = f->query->against ? f->query->against : f->query->since;

	f->from = f->to;
	if (!base) {
		f->has_base = f->to > 0;
		f->base = f->to - (f->to > 0);
		return 0;
	}
	if (find_round(f, base, &f->base) < 0)
		return -1;
	f->has_base = true;
	if (f->query->against)
		return f->base != f->to
			       ? 0
			       : err_set(f->err, EXIT_USAGE, "a round cannot be compared with itself: name two rounds");
	if (f->base >= f->to)
		return err_set(f->err, EXIT_USAGE, "--since: round %s is not before round %" PRIu64, base,
			       f->rounds.list[f->to].number);
	f->from = f->base + 1;
	return 0;
}

static int choose_rounds(struct fill *f)
{
	f->to = f->rounds.count - 1;
	if (f->query->round && find_round(f, f->query->round, &f->to) < 0)
		return -1;
	if (choose_base(f) < 0)
		return -1;
	f->m->from = (unsigned)f->rounds.list[f->from].number;
	f->m->to = (unsigned)f->rounds.list[f->to].number;
	f->m->base = f->has_base ? (unsigned)f->rounds.list[f->base].number : 0;
	f->m->pair = f->query->against != NULL;
	f->selected = (struct store_races_query){.round = f->rounds.list[f->to].id,
						 .since = f->query->since ? f->rounds.list[f->base].id : 0};
	return 0;
}

int summary_fill(struct summary *m, struct store *store, const struct summary_query *query, const char *version,
		 struct err *err)
{
	struct fill f = {.m = m, .store = store, .query = query, .err = err};
	int rc = -1;

	m->store = fill_line(&f, store_where(store));
	m->version = fill_text(&f, version);
	if (choose_campaign(&f) == 0 && get_rounds(&f) == 0 && choose_rounds(&f) == 0 && fill_rounds(&f) == 0 &&
	    fill_ends(&f) == 0 && (query->no_coverage || fill_coverage(&f) == 0) && fill_findings(&f) == 0)
		rc = m->pair ? fill_pair(&f) : fill_races(&f);
	store_rounds_free(&f.rounds);
	if (rc < 0)
		return -1;
	summary_sort(m);
	rc = query->bugs ? fill_bugs(&f) : 0;
	return err->code == EXIT_OK ? rc : -1;
}
