// SPDX-License-Identifier: GPL-2.0-or-later
/* Selects the races of some files that a user names by id, by identity, by group, or by the beginning of one of these. */
#include "hv/cli/race_wanted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/base/clean.h"
#include "hv/race/group_key.h"

int races_wanted_add(struct races_wanted *w, const char *id, struct err *err)
{
	struct race_wanted *to;

	if (!id[0])
		return err_set(err, EXIT_USAGE, "a race's id is empty: give an id, or the first characters of one");
	to = list_grow(&w->list, &w->count, sizeof(*to), err);
	if (!to)
		return -1;
	to->id = id;
	return 0;
}

void races_wanted_free(struct races_wanted *w)
{
	free(w->list);
	*w = (struct races_wanted){0};
}

/* Record the id of a race that matches, unless it is recorded already. */
static void note_found(struct race_wanted *w, const char *id)
{
	size_t kept = w->count < RACE_WANTED_SHOWN ? w->count : RACE_WANTED_SHOWN;

	for (size_t i = 0; i < kept; i++) {
		if (strcmp(w->found[i], id) == 0)
			return;
	}
	if (kept < RACE_WANTED_SHOWN)
		snprintf(w->found[kept], sizeof(w->found[kept]), "%s", id);
	w->count++;
}

/* The ids that a user can give for a race. An id is "" if the race has none. */
struct ids {
	struct race_key key;
	/*
	 * group[0] is the race's group if the race is in no section of a sequence count, and group[1] if the race is in such a
	 * section. Which of the two is right is known only after the race is judged, so the user may give either.
	 */
	struct group_key group[2];
};

static void make_ids(const struct race *race, struct ids *out)
{
	race_key(race, &out->key);
	for (unsigned section = 0; section < 2; section++)
		group_key(race, section, &out->group[section]);
}

/*
 * Returns the first of the race's ids that begins with the user's text, or NULL if none does. The ids are the race's id, its
 * identity and its group's id. The caller records the returned id: several races that are found by the same identity or group
 * are one match, not an ambiguous text.
 */
static const char *found_by(const struct race_wanted *w, const struct race *race, const struct ids *of)
{
	const char *ids[] = {race->id,		 of->key.identity, of->key.alias,     of->group[0].id,
			     of->group[0].alias, of->group[1].id,  of->group[1].alias};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		if (strncmp(w->id, ids[i], strlen(w->id)) == 0)
			return ids[i];
	}
	return NULL;
}

bool races_wanted_has(struct races_wanted *w, const struct race *race)
{
	bool found = !w->count;
	struct ids ids;

	if (w->count)
		make_ids(race, &ids);
	for (size_t i = 0; i < w->count; i++) {
		const char *id = found_by(&w->list[i], race, &ids);

		if (!id)
			continue;
		note_found(&w->list[i], id);
		found = true;
	}
	return found;
}

bool races_wanted_are_in(const struct races_wanted *w, struct race *const *races, size_t count)
{
	bool *found = calloc(w->count + 1, sizeof(*found)), all = true;
	struct ids ids;

	for (size_t i = 0; found && w->count && i < count; i++) {
		make_ids(races[i], &ids);
		for (size_t k = 0; k < w->count; k++)
			found[k] |= found_by(&w->list[k], races[i], &ids) != NULL;
	}
	for (size_t k = 0; k < w->count; k++)
		all &= found && found[k];
	free(found);
	return all;
}

/* Set the error that the user's abbreviation matches several races. Returns -1. */
static int several(const struct race_wanted *w, struct err *err)
{
	char ids[RACE_WANTED_SHOWN * (CLEAN_MAX(RACE_ID_MAX) + 2)] = "", id[CLEAN_MAX(RACE_ID_MAX)];
	size_t used = 0;

	for (size_t i = 0; i < w->count && i < RACE_WANTED_SHOWN; i++) {
		clean_text(w->found[i], strlen(w->found[i]), id, sizeof(id));
		used += (size_t)snprintf(ids + used, sizeof(ids) - used, "%s%s", i ? ", " : "", id);
	}
	return err_set(err, EXIT_USAGE, "several races begin with '%s': %s%s; give more of the id", w->id, ids,
		       w->count > RACE_WANTED_SHOWN ? " and others" : "");
}

int races_wanted_all_found(const struct races_wanted *w, struct err *err)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct race_wanted *one = &w->list[i];

		if (one->count == 0)
			return err_set(err, EXIT_USAGE, "no race '%s' in the files given; `outrider prune` lists them",
				       one->id);
		if (one->count > 1)
			return several(one, err);
	}
	return 0;
}
