// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/race/store.h"

#include <stdlib.h>
#include <string.h>

#include "hv/race/conflict.h"

struct race_store {
	struct race **races;
	size_t count, room;
	uint64_t slide;
	uint64_t ignored;
	unsigned run;
};

struct race_store *race_store_new(struct err *err)
{
	struct race_store *s = calloc(1, sizeof(*s));

	if (!s)
		err_set(err, EXIT_INTERNAL, "out of memory");
	return s;
}

void race_free(struct race *race)
{
	if (!race)
		return;
	race_names_free(race->names);
	free(race->modules);
	free(race);
}

void race_store_free(struct race_store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		race_free(s->races[i]);
	free(s->races);
	free(s);
}

void race_store_set_slide(struct race_store *s, uint64_t slide)
{
	s->slide = slide;
}

static bool is_conflict(const struct observation *o)
{
	struct conflict_access access[2];

	for (int i = 0; i < 2; i++) {
		const struct race_side *side = &o->sides[i];

		access[i] = (struct conflict_access){.known = side->known, .locked = side->locked, .rw = side->rw};
	}
	return race_is_conflict(&access[0], &access[1]);
}

static void keep_side(struct race_instance_side *to, const struct race_side *from)
{
	*to = (struct race_instance_side){.known = from->known};
	if (!from->known)
		return;
	to->cpu = from->cpu;
	to->rw = from->rw;
	to->locked = from->locked;
	to->context = from->context;
}

/* `swap`: the observation has the race's sides the other way round. */
static void keep_instance(struct race *race, const struct observation *o, bool swap)
{
	struct race_instance *i;

	if (race->kept == RACE_INSTANCES_MAX)
		return;
	i = &race->instances[race->kept++];
	*i = (struct race_instance){.time_ns = o->time_ns, .held_ns = o->held_ns, .how = o->how};
	i->gva = o->sides[0].gva;
	i->gpa = o->gpa;
	i->data_len = o->data_len <= RACE_DATA_MAX ? o->data_len : RACE_DATA_MAX;
	memcpy(i->before, o->before, i->data_len);
	memcpy(i->after, o->after, i->data_len);
	keep_side(&i->sides[0], &o->sides[swap]);
	keep_side(&i->sides[1], &o->sides[!swap]);
}

static void count_instance(struct race *race, const struct observation *o, bool swap)
{
	if (race->count == 0 || o->time_ns < race->first_ns)
		race->first_ns = o->time_ns;
	if (o->time_ns > race->last_ns)
		race->last_ns = o->time_ns;
	race->count++;
	race->rw[0] |= o->sides[swap].known ? o->sides[swap].rw : 0;
	race->rw[1] |= o->sides[!swap].known ? o->sides[!swap].rw : 0;
	keep_instance(race, o, swap);
}

/* Thousands of races at most, and ids differ in their first bytes: a scan costs nothing next to the window it reports. */
static struct race *find(const struct race_store *s, const char *id, const char *site_a, const char *site_b, bool *swap)
{
	for (size_t i = 0; i < s->count; i++) {
		struct race *race = s->races[i];

		if (memcmp(race->id, id, RACE_ID_MAX) != 0)
			continue;
		/* Two pairs may share an id; they are told apart all the same. */
		*swap = strcmp(race->site[0], site_a) != 0;
		if (strcmp(race->site[*swap], site_a) == 0 && strcmp(race->site[!*swap], site_b) == 0)
			return race;
	}
	return NULL;
}

static int make_room(struct race_store *s, struct err *err)
{
	size_t room = s->room ? 2 * s->room : 64;
	struct race **races;

	if (s->count < s->room)
		return 0;
	races = realloc(s->races, room * sizeof(struct race *));
	if (!races)
		return err_set(err, EXIT_INTERNAL, "out of memory after %zu races; later ones are lost", s->count);
	s->races = races;
	s->room = room;
	return 0;
}

static struct race *append(struct race_store *s, struct err *err)
{
	struct race *race;

	if (make_room(s, err) < 0)
		return NULL;
	race = calloc(1, sizeof(*race));
	if (race)
		s->races[s->count++] = race;
	else
		err_set(err, EXIT_INTERNAL, "out of memory after %zu races; later ones are lost", s->count);
	return race;
}

static uint32_t at_most(uint32_t value, uint32_t max)
{
	return value < max ? value : max;
}

/*
 * Only what is in use of the large arrays: the rest of a race's memory is then never touched and costs nothing. Lengths come
 * from the detector; everything that reads the copy relies on them.
 */
static void copy_side(struct race_side *to, const struct race_side *from)
{
	uint32_t room = sizeof(to->below);

	memcpy(to, from, offsetof(struct race_side, calls.frames));
	to->code_len = at_most(to->code_len, sizeof(to->code));
	to->callee_count = at_most(to->callee_count, RACE_CALLEES_MAX);
	to->stack_len = at_most(to->stack_len, sizeof(to->stack));
	to->calls.count = at_most(to->calls.count, UNWIND_FRAMES_MAX);
	for (int i = 0; i < GUEST_STACKS_MAX - 1; i++) {
		to->interrupted[i].len = at_most(to->interrupted[i].len, room);
		room -= to->interrupted[i].len;
	}
	memcpy(to->calls.frames, from->calls.frames, to->calls.count * sizeof(to->calls.frames[0]));
	memcpy(to->stack, from->stack, to->stack_len);
	memcpy(to->below, from->below, sizeof(to->below) - room);
}

static void copy_observation(struct observation *to, const struct observation *from)
{
	memcpy(to, from, offsetof(struct observation, sides));
	to->data_len = at_most(to->data_len, RACE_DATA_MAX);
	for (int i = 0; i < 2; i++) {
		if (from->sides[i].known)
			copy_side(&to->sides[i], &from->sides[i]);
	}
}

struct race *race_store_add(struct race_store *s, const struct observation *o, bool *is_new, struct err *err)
{
	char id[RACE_ID_MAX], site[2][SITE_NAME_MAX];
	struct race *race;
	bool swap = false;

	*is_new = false;
	if (!is_conflict(o)) {
		s->ignored++;
		return NULL;
	}
	site_name(&o->sides[0], s->slide, site[0]);
	site_name(&o->sides[1], s->slide, site[1]);
	race_id(site[0], site[1], id);
	race = find(s, id, site[0], site[1], &swap);
	if (!race) {
		race = append(s, err);
		if (!race)
			return NULL;
		memcpy(race->id, id, sizeof(id));
		memcpy(race->site, site, sizeof(site));
		copy_observation(&race->first, o);
		*is_new = true;
	}
	count_instance(race, o, swap);
	return race;
}

static void merge(struct race *into, const struct race *from, bool swap)
{
	for (unsigned i = 0; i < from->kept && into->kept < RACE_INSTANCES_MAX; i++) {
		struct race_instance *instance = &into->instances[into->kept++];

		*instance = from->instances[i];
		instance->sides[0] = from->instances[i].sides[swap];
		instance->sides[1] = from->instances[i].sides[!swap];
	}
	into->rw[0] |= from->rw[swap];
	into->rw[1] |= from->rw[!swap];
	into->count += from->count;
	if (from->first_ns < into->first_ns)
		into->first_ns = from->first_ns;
	if (from->last_ns > into->last_ns)
		into->last_ns = from->last_ns;
}

void race_store_begin_run(struct race_store *s)
{
	s->run++;
}

struct race *race_store_put(struct race_store *s, struct race *race, struct err *err)
{
	bool swap = false;
	struct race *known = find(s, race->id, race->site[0], race->site[1], &swap);

	for (unsigned i = 0; i < race->kept; i++)
		race->instances[i].run = s->run;
	if (known) {
		merge(known, race, swap);
		race_free(race);
		return known;
	}
	if (make_room(s, err) < 0)
		return NULL;
	s->races[s->count++] = race;
	return race;
}

size_t race_store_count(const struct race_store *s)
{
	return s->count;
}

struct race *race_store_get(const struct race_store *s, size_t index)
{
	return s->races[index];
}

uint64_t race_store_ignored(const struct race_store *s)
{
	return s->ignored;
}
