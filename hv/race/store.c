// SPDX-License-Identifier: GPL-2.0-or-later
/* The races of a run: merges observations into one race for each unordered pair of sites. */
#include "hv/race/store.h"

#include <stdlib.h>
#include <string.h>

#include "hv/race/conflict.h"
#include "hv/race/count.h"
#include "hv/race/index.h"
#include "hv/race/printable.h"

#define FIRST_ROOM 64

struct race_store {
	struct race **races;
	/* Capacity of `races`. The number of races is index.count. */
	size_t room;
	/* Index of `races`, by race_hash(). */
	struct race_index index;
	/*
	 * A random key for the hashes. With a known key, a guest or a file could choose site names that make all races collide.
	 */
	struct siphash_key key;
	/*
	 * `most`: maximum number of races that race_store_add() keeps. `left_out`: number of observations dropped because of
	 * this limit.
	 */
	size_t most;
	uint64_t left_out;
	uint64_t slide;
	unsigned run;
};

struct race_store *race_store_new(struct err *err)
{
	struct race_store *s = calloc(1, sizeof(*s));

	if (!s) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	s->most = SIZE_MAX;
	siphash_key_make(&s->key);
	return s;
}

void race_store_free(struct race_store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < race_store_count(s); i++)
		race_free(s->races[i]);
	race_index_free(&s->index);
	free(s->races);
	free(s);
}

void race_store_limit(struct race_store *s, size_t most)
{
	s->most = most;
}

uint64_t race_store_left_out(const struct race_store *s)
{
	return s->left_out;
}

void race_store_set_slide(struct race_store *s, uint64_t slide)
{
	s->slide = slide;
}

/*
 * Returns whether a CPU was held before it increments a count, and another CPU made the count 0 (hv/detect/window/last_put.h).
 * The detector samples no other LOCKed instruction.
 */
static bool is_last_put(const struct observation *o)
{
	static const uint8_t zero[RACE_DATA_MAX];
	const struct race_side *get = &o->sides[0], *put = &o->sides[1];
	uint32_t len = o->data_len < RACE_DATA_MAX ? o->data_len : RACE_DATA_MAX;

	return get->kind == RACE_SIDE_CPU && get->locked && put->kind == RACE_SIDE_CPU && put->locked &&
	       memcmp(o->after, zero, len) == 0 && memcmp(o->before, zero, len) != 0;
}

static bool is_conflict(const struct observation *o)
{
	struct conflict_access access[2];

	if (is_last_put(o))
		return true;

	for (int i = 0; i < 2; i++) {
		const struct race_side *side = &o->sides[i];

		access[i] = (struct conflict_access){
			.known = side->kind != RACE_SIDE_UNSEEN,
			.locked = side->kind == RACE_SIDE_CPU && side->locked,
			.rw = side->rw,
		};
	}
	return race_is_conflict(&access[0], &access[1]);
}

static void keep_side(struct race_instance_side *to, const struct race_side *from)
{
	*to = (struct race_instance_side){.kind = from->kind};
	if (from->kind != RACE_SIDE_UNSEEN)
		to->rw = from->rw;
	if (from->kind == RACE_SIDE_DEVICE) {
		to->device = from->device;
		printable_device(&to->device);
	}
	if (from->kind != RACE_SIDE_CPU)
		return;
	to->cpu = from->cpu;
	to->locked = from->locked;
	to->context = from->context;
	printable_context(&to->context);
}

/*
 * Append the observation to the race's instances, unless the race has RACE_INSTANCES_MAX already. `swap`: the observation's
 * sides are in the other order than the race's. Returns 0, or -1 if memory runs out.
 */
static int keep_instance(struct race *race, const struct observation *o, bool swap)
{
	struct race_instance *i;

	if (race->kept == RACE_INSTANCES_MAX)
		return 0;
	i = race_add_instance(race);
	if (!i)
		return -1;
	i->time_ns = o->time_ns;
	i->held_ns = o->held_ns;
	i->how = o->how;
	i->gva = o->sides[0].gva;
	i->gpa = o->gpa;
	i->data_len = o->data_len <= RACE_DATA_MAX ? o->data_len : RACE_DATA_MAX;
	memcpy(i->before, o->before, i->data_len);
	memcpy(i->after, o->after, i->data_len);
	keep_side(&i->sides[0], &o->sides[swap]);
	keep_side(&i->sides[1], &o->sides[!swap]);
	return 0;
}

/* Returns enum insn_rw bits, or 0 for an unseen side. */
static uint8_t rw_of(const struct race_side *side)
{
	return side->kind != RACE_SIDE_UNSEEN ? side->rw : 0;
}

/* Returns true if the lockset of each side is known. A side that a device or an unseen writer made needs none. */
static bool has_locks(const struct race_side sides[2])
{
	return (sides[0].locks.known || sides[0].kind != RACE_SIDE_CPU) &&
	       (sides[1].locks.known || sides[1].kind != RACE_SIDE_CPU);
}

/*
 * If the locks of the race's first observation are unknown, take those of this later instance. Locks are unknown in the first
 * second after a module is loaded.
 */
static void learn_locks(struct race *race, const struct race_side from[2], bool swap)
{
	if (has_locks(race->first.sides) || !has_locks(from))
		return;
	for (unsigned i = 0; i < 2; i++) {
		const struct race_locks *locks = &from[i != swap].locks;

		if (race->first.sides[i].kind != RACE_SIDE_CPU || locks->set.count > LOCKSET_MAX)
			continue;
		race->first.sides[i].locks = *locks;
		printable_locks(&race->first.sides[i].locks);
	}
}

static int count_instance(struct race *race, const struct observation *o, bool swap)
{
	if (keep_instance(race, o, swap) < 0)
		return -1;
	if (race->count == 0 || o->time_ns < race->first_ns)
		race->first_ns = o->time_ns;
	if (o->time_ns > race->last_ns)
		race->last_ns = o->time_ns;
	race->count = count_sum(race->count, 1);
	race->rw[0] |= rw_of(&o->sides[swap]);
	race->rw[1] |= rw_of(&o->sides[!swap]);
	learn_locks(race, o->sides, swap);
	return 0;
}

/*
 * A race to look for in the store: its id and its unordered pair of sites. The id alone does not suffice, since several pairs
 * of sites can share an id.
 */
struct site_pair {
	const struct race_store *store;
	const char *id, *site_a, *site_b;
	/* Output: true if the race that was found has its sites in the other order. */
	bool swap;
};

static bool is_race(void *ctx, size_t position)
{
	struct site_pair *wanted = ctx;
	const struct race *race = wanted->store->races[position];

	if (memcmp(race->id, wanted->id, RACE_ID_MAX) != 0)
		return false;
	wanted->swap = strcmp(race->site[0], wanted->site_a) != 0;
	return strcmp(race->site[wanted->swap], wanted->site_a) == 0 && strcmp(race->site[!wanted->swap], wanted->site_b) == 0;
}

static struct race *find_race(const struct race_store *s, uint64_t hash, struct site_pair *wanted)
{
	size_t position = race_index_find(&s->index, hash, is_race, wanted);

	return position == RACE_INDEX_NONE ? NULL : s->races[position];
}

/* Take ownership of a race that is not in the store. Returns 0, or -1 if memory runs out, and the store is unchanged. */
static int append_race(struct race_store *s, uint64_t hash, struct race *race)
{
	size_t count = race_store_count(s);

	if (count == s->room) {
		size_t room = s->room ? 2 * s->room : FIRST_ROOM;
		struct race **races = realloc(s->races, room * sizeof(struct race *));

		if (!races)
			return -1;
		s->races = races;
		s->room = room;
	}
	if (race_index_make_room(&s->index) < 0)
		return -1;
	s->races[count] = race;
	race_index_add(&s->index, hash);
	return 0;
}

static void no_memory(const struct race_store *s, struct err *err)
{
	err_set(err, EXIT_INTERNAL, "out of memory after %zu races; later ones are lost", race_store_count(s));
}

/*
 * Returns a new race with that pair of sites and `o` as its first observation, which is not counted yet; or NULL if memory runs
 * out.
 */
static struct race *first_observed(const struct site_pair *pair, const struct observation *o)
{
	struct race *race = race_new();

	if (!race)
		return NULL;
	memcpy(race->id, pair->id, RACE_ID_MAX);
	memcpy(race->site[0], pair->site_a, SITE_NAME_MAX);
	memcpy(race->site[1], pair->site_b, SITE_NAME_MAX);
	race->first = *o;
	if (race->first.data_len > RACE_DATA_MAX)
		race->first.data_len = RACE_DATA_MAX;
	printable_memory(&race->first.memory);
	for (unsigned i = 0; i < 2; i++) {
		race->first.sides[i] = (struct race_side){0};
		if (o->sides[i].kind == RACE_SIDE_DEVICE)
			race_keep_device(race, i, &o->sides[i]);
		if (o->sides[i].kind == RACE_SIDE_CPU && race_keep_side(race, i, &o->sides[i]) < 0) {
			race_free(race);
			return NULL;
		}
	}
	return race;
}

static struct race *add_new(struct race_store *s, uint64_t hash, const struct site_pair *pair, const struct observation *o)
{
	struct race *race = first_observed(pair, o);

	if (race && (count_instance(race, o, false) < 0 || append_race(s, hash, race) < 0)) {
		race_free(race);
		race = NULL;
	}
	return race;
}

struct race *race_store_add(struct race_store *s, const struct observation *o, bool *is_new, struct err *err)
{
	char id[RACE_ID_MAX], site[2][SITE_NAME_MAX];
	struct site_pair pair = {.store = s, .id = id, .site_a = site[0], .site_b = site[1]};
	struct race *race;
	uint64_t hash;

	*is_new = false;
	if (!is_conflict(o))
		return NULL;
	site_name(&o->sides[0], s->slide, site[0]);
	site_name(&o->sides[1], s->slide, site[1]);
	race_id(site[0], site[1], id);
	hash = race_hash(&s->key, id, site[0], site[1]);
	race = find_race(s, hash, &pair);
	if (race) {
		if (count_instance(race, o, pair.swap) < 0)
			race = NULL;
	} else if (race_store_count(s) >= s->most) {
		s->left_out++;
		return NULL;
	} else {
		race = add_new(s, hash, &pair, o);
		*is_new = race != NULL;
	}
	if (!race)
		no_memory(s, err);
	return race;
}

/*
 * Merge `from` into `into`. Both are records of the same race. Returns 0, or -1 if memory runs out: then `into` may have got
 * some of the instances of `from`, and nothing else.
 */
static int merge_race(struct race *into, const struct race *from, bool swap)
{
	for (unsigned i = 0; i < from->kept && into->kept < RACE_INSTANCES_MAX; i++) {
		struct race_instance *instance = race_add_instance(into);

		if (!instance)
			return -1;
		*instance = from->instances[i];
		instance->sides[0] = from->instances[i].sides[swap];
		instance->sides[1] = from->instances[i].sides[!swap];
	}
	if (from->replay) {
		if (race_have_replay(into) < 0)
			return -1;
		replay_merge(into->replay, from->replay, swap);
	}
	into->rw[0] |= from->rw[swap];
	into->rw[1] |= from->rw[!swap];
	into->count = count_sum(into->count, from->count);
	into->suspected |= from->suspected;
	if (from->complaint.link > into->complaint.link) {
		into->complaint = from->complaint;
		into->complaint.side ^= swap;
	}
	learn_locks(into, from->first.sides, swap);
	if (from->first_ns < into->first_ns)
		into->first_ns = from->first_ns;
	if (from->last_ns > into->last_ns)
		into->last_ns = from->last_ns;
	return 0;
}

void race_store_begin_run(struct race_store *s)
{
	s->run++;
}

struct race *race_store_put(struct race_store *s, struct race *race, struct err *err)
{
	struct site_pair pair = {.store = s, .id = race->id, .site_a = race->site[0], .site_b = race->site[1]};
	uint64_t hash = race_hash(&s->key, race->id, race->site[0], race->site[1]);
	struct race *known = find_race(s, hash, &pair);

	for (unsigned i = 0; i < race->kept; i++)
		race->instances[i].run = s->run;
	if ((known ? merge_race(known, race, pair.swap) : append_race(s, hash, race)) < 0) {
		no_memory(s, err);
		return NULL;
	}
	if (!known)
		return race;
	race_free(race);
	return known;
}

struct race *race_store_add_replay(struct race_store *s, const char *site_a, const char *site_b,
				   const struct replay_instance *instance, struct err *err)
{
	char id[RACE_ID_MAX];
	struct site_pair pair = {.store = s, .id = id, .site_a = site_a, .site_b = site_b};
	struct replay_instance own;
	struct race *race;

	race_id(site_a, site_b, id);
	race = find_race(s, race_hash(&s->key, id, site_a, site_b), &pair);
	if (!race)
		return NULL;
	if (replay_instance_wrong(instance)) {
		err_set(err, EXIT_INTERNAL, "race %s: a replay in both orders is not kept: %s", id,
			replay_instance_wrong(instance));
		return NULL;
	}
	if (race_have_replay(race) < 0) {
		no_memory(s, err);
		return NULL;
	}
	own = *instance;
	if (pair.swap)
		replay_swap(&own);
	replay_count(race->replay, &own);
	return race;
}

size_t race_store_count(const struct race_store *s)
{
	return s->index.count;
}

struct race *race_store_get(const struct race_store *s, size_t index)
{
	return s->races[index];
}
