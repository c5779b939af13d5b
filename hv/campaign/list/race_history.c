// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects a race history: all facts in a store about one race, over all kernel builds and rounds. */
#include "hv/campaign/list/race_history.h"

#include <stdlib.h>

#include "hv/campaign/list/fill_internal.h"
#include "hv/campaign/list/race_history_parts.h"

static int get_race(struct fill *f, int64_t id, struct race_history *s)
{
	const struct store_races_query q = {.race = id};
	struct store_races races = {0};
	int rc = store_races(f->store, &q, &races, f->err);

	f->selected = q;
	if (rc == 0 && races.count != 1)
		rc = err_set(f->err, EXIT_INPUT, "%s: the race is no longer in this store", store_where(f->store));
	if (rc == 0 && !(f->m->races = calloc(1, sizeof(*f->m->races))))
		rc = err_set(f->err, EXIT_INTERNAL, "out of memory");
	if (rc == 0) {
		s->race = &f->m->races[f->m->race_count++];
		s->seen = races.list[0].total_seen;
		s->runs = races.list[0].total_runs;
		s->rounds = races.list[0].rounds;
		s->first = fill_time(f, races.list[0].first);
		s->last = fill_time(f, races.list[0].last);
		rc = fill_race(f, &races.list[0], STORE_CHANGE_NONE, f->m->races);
	}
	store_races_free(&races);
	return rc;
}

static int get_triage(struct fill *f, int64_t id, struct race_history *s)
{
	struct store_history history = {0};
	int rc = store_history(f->store, id, &history, f->err);

	if (rc == 0 && history.count && !(s->triage = calloc(history.count, sizeof(*s->triage))))
		rc = err_set(f->err, EXIT_INTERNAL, "out of memory");
	for (size_t i = 0; rc == 0 && i < history.count; i++)
		s->triage[s->triage_count++] = (struct race_history_triage){.state = history.list[i].triage,
									    .note = fill_line(f, history.list[i].note),
									    .who = fill_line(f, history.list[i].who),
									    .mended = fill_line(f, history.list[i].mended),
									    .at = fill_time(f, history.list[i].at)};
	store_history_free(&history);
	return rc;
}

/* Parse the race's record as JSON. The store is untrusted; race_read() or sections_read() checks the object later. */
static int get_record(struct fill *f, int64_t id, struct race_history *s)
{
	char *text = store_race_record(f->store, id, true, f->err);
	json_error_t error;

	if (!text)
		return f->err->code == EXIT_OK ? 0 : -1;
	s->record = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	free(text);
	if (!s->record)
		return err_set(f->err, EXIT_INPUT, "%s: the report of the race %s is damaged: %s", store_where(f->store),
			       s->race->id, error.text);
	return 0;
}

struct race_history *race_history_get(struct store *store, int64_t race, const struct subsystems *subsystems,
				      const char *version, struct err *err)
{
	struct race_history *s = calloc(1, sizeof(*s));
	const struct summary_query query = {.subsystems = subsystems, .all = true};
	struct fill f = {.store = store, .query = &query, .err = err};

	if (!s) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	f.m = &s->m;
	s->m.store = fill_line(&f, store_where(store));
	s->m.version = fill_text(&f, version);
	if (get_race(&f, race, s) == 0 && store_race_rounds(store, race, &s->in_rounds, err) == 0 &&
	    get_triage(&f, race, s) == 0 && get_record(&f, race, s) == 0 && err->code == EXIT_OK)
		return s;
	race_history_free(s);
	return NULL;
}

void race_history_free(struct race_history *s)
{
	if (!s)
		return;
	json_decref(s->record);
	store_race_rounds_free(&s->in_rounds);
	free(s->triage);
	summary_free(&s->m);
	free(s);
}
