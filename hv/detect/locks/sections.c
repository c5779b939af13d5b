// SPDX-License-Identifier: GPL-2.0-or-later
/* Critical sections that follow each other in one activation of a function (sections.h). */
#include "hv/detect/locks/sections.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64u
/*
 * This many times, a CPU is held at each chance between the sections of a pair. After that, the number of holds in vain grows
 * with the square root of the number of chances only.
 */
#define HOLDS_ALWAYS 32u
/* Locks are at least 4 bytes apart. The multiplier spreads addresses over the table (Knuth, TAOCP vol. 3, 6.4). */
#define HASH_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)
#define LOCK_SHIFT 54u	 /* leaves the 10 bits of SECTION_LOCKS_MAX */
#define BUCKET_SHIFT 58u /* leaves the 6 bits of SECTION_BUCKETS */

_Static_assert(SECTION_LOCKS_MAX == 1u << (64 - LOCK_SHIFT), "the hash has as many bits as the table has locks");
_Static_assert(SECTION_BUCKETS == 1u << (64 - BUCKET_SHIFT), "the hash has as many bits as there are buckets");

void sections_fini(struct sections *s)
{
	free(s->functions);
	s->functions = NULL;
	s->function_count = s->function_room = 0;
}

/* ---- functions ---- */

/* Returns the number of functions that start at or below `pc`. */
static size_t functions_up_to(const struct sections *s, uint64_t pc)
{
	size_t from = 0, to = s->function_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (s->functions[middle].start <= pc)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static const struct section_function *function_of(const struct sections *s, uint64_t pc)
{
	size_t n = functions_up_to(s, pc);

	return n && pc < s->functions[n - 1].end ? &s->functions[n - 1] : NULL;
}

int sections_follow(struct sections *s, const struct section_function *function)
{
	size_t at = functions_up_to(s, function->start);

	if (at && s->functions[at - 1].start == function->start)
		return 0;
	if (s->function_count == s->function_room) {
		size_t room = s->function_room ? 2 * s->function_room : FIRST_ROOM;
		struct section_function *list = realloc(s->functions, room * sizeof(*list));

		if (!list)
			return -1;
		s->functions = list;
		s->function_room = room;
	}
	memmove(&s->functions[at + 1], &s->functions[at], (s->function_count - at) * sizeof(*s->functions));
	s->functions[at] = *function;
	s->function_count++;
	return 0;
}

/* ---- activations ---- */

static struct section_bucket *bucket_of(struct sections *s, const struct lock_who *who)
{
	return &s->buckets[((uint64_t)who->who * HASH_MULTIPLIER) >> BUCKET_SHIFT];
}

static struct section_activation *find(struct sections *s, const struct lock_who *who, uint64_t start)
{
	struct section_bucket *b = bucket_of(s, who);

	for (unsigned i = 0; i < SECTION_BUCKET_SIZE; i++) {
		if (b->activations[i].start == start && lock_who_same(&b->activations[i].who, who))
			return &b->activations[i];
	}
	return NULL;
}

static struct section_activation *make(struct section_bucket *b)
{
	for (unsigned i = 0; i < SECTION_BUCKET_SIZE; i++) {
		if (!b->activations[i].start)
			return &b->activations[i];
	}
	return &b->activations[b->oldest++ % SECTION_BUCKET_SIZE];
}

bool sections_begins_at(const struct sections *s, uint64_t pc)
{
	const struct section_function *f = function_of(s, pc);

	return f && f->begin == pc;
}

void sections_at(struct sections *s, const struct lock_who *who, uint64_t pc)
{
	const struct section_function *f = function_of(s, pc);
	struct section_activation *a;

	if (!f || f->begin != pc)
		return;
	a = find(s, who, f->start);
	if (!a)
		a = make(bucket_of(s, who));
	*a = (struct section_activation){.who = *who, .start = f->start};
}

/* ---- the sections of a lock ---- */

static struct section_lock *lock_at(struct sections *s, uint64_t gva)
{
	return &s->locks[(gva * HASH_MULTIPLIER) >> LOCK_SHIFT];
}

static void lock_taken(struct sections *s, const struct lock_who *who, const struct section_step *step)
{
	struct section_lock *l = lock_at(s, step->gva);

	if (l->gva != step->gva)
		*l = (struct section_lock){.gva = step->gva};
	l->latest[l->next].who = *who;
	l->latest[l->next].step = *step;
	l->next = (l->next + 1) % SECTION_LATEST_MAX;
}

static void lock_given(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t number)
{
	struct section_lock *l = lock_at(s, gva);

	for (unsigned i = 0; l->gva == gva && i < SECTION_LATEST_MAX; i++) {
		struct section_step *step = &l->latest[i].step;

		if (step->taken && !step->given && lock_who_same(&l->latest[i].who, who))
			step->given = number;
	}
}

/* ---- pairs ---- */

static struct section_pair *find_pair(struct sections *s, uint64_t first, uint64_t second)
{
	for (unsigned i = 0; i < s->pair_count; i++) {
		if (s->pairs[i].first == first && s->pairs[i].second == second)
			return &s->pairs[i];
	}
	return NULL;
}

static struct section_pair *pair_of(struct sections *s, uint64_t first, uint64_t second)
{
	struct section_pair *pair = find_pair(s, first, second);

	if (pair || s->pair_count == SECTION_PAIRS_MAX)
		return pair;
	s->pairs[s->pair_count] = (struct section_pair){.first = first, .second = second};
	return &s->pairs[s->pair_count++];
}

static void came_between(struct section_pair *pair, uint64_t taken_at, bool by_hold)
{
	for (unsigned i = 0; i < SECTION_BETWEEN_MAX; i++) {
		struct section_between *b = &pair->between[i];

		if (b->count && b->taken_at != taken_at)
			continue;
		b->taken_at = taken_at;
		b->count++;
		b->by_hold += by_hold;
		return;
	}
}

/* Returns whether the lock's section `i`, of another context, was asked for after the moment `after`, and has ended. */
static bool is_between(const struct section_lock *l, unsigned i, const struct lock_who *who, uint64_t after)
{
	const struct section_step *step = &l->latest[i].step;

	return step->taken > after && step->given && !lock_who_same(&l->latest[i].who, who);
}

/*
 * Count the sections of other contexts that lay wholly between the two sections. A section whose lock was asked for before the
 * first section was over may have come before it, so it does not count. Of equal sections in one gap, one counts.
 */
static void count_between(struct sections *s, const struct section_activation *a, const struct section_step *first,
			  struct section_pair *pair)
{
	const struct section_lock *l = lock_at(s, first->gva);
	uint64_t seen[SECTION_LATEST_MAX];
	unsigned n = 0;

	for (unsigned i = 0; l->gva == first->gva && i < SECTION_LATEST_MAX; i++) {
		const struct section_step *step = &l->latest[i].step;
		unsigned k = 0;

		if (!is_between(l, i, &a->who, first->given))
			continue;
		while (k < n && seen[k] != step->taken_at)
			k++;
		if (k < n)
			continue;
		seen[n++] = step->taken_at;
		came_between(pair, step->taken_at, a->held_at == pair->second && step->taken > a->held_from);
	}
}

/* Forget the activation's sections of this lock: its loop begins anew. */
static void forget(struct section_activation *a, uint64_t gva)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < a->count; i++) {
		if (a->steps[i].gva != gva)
			a->steps[kept++] = a->steps[i];
	}
	a->count = kept;
}

static void pair_up(struct sections *s, struct section_activation *a, const struct section_step *second)
{
	for (unsigned i = 0; i < a->count; i++) {
		if (a->steps[i].gva == second->gva && a->steps[i].taken_at == second->taken_at) {
			forget(a, second->gva);
			break;
		}
	}
	for (unsigned i = 0; i < a->count; i++) {
		const struct section_step *first = &a->steps[i];
		struct section_pair *pair;

		if (first->gva != second->gva || !first->given)
			continue;
		pair = pair_of(s, first->taken_at, second->taken_at);
		if (!pair)
			continue;
		pair->count++;
		pair->waited += a->waited > first->given;
		count_between(s, a, first, pair);
	}
	a->held_at = a->held_from = 0;
	if (a->count < SECTION_STEPS_MAX)
		a->steps[a->count++] = *second;
}

/* ---- holding a CPU between two sections ---- */

/* Returns the activation's latest section of the lock that has ended, or NULL if it is in a loop, or has no such section. */
static const struct section_step *latest_step(const struct section_activation *a, uint64_t gva, uint64_t taken_at)
{
	const struct section_step *latest = NULL;

	for (unsigned i = 0; i < a->count; i++) {
		if (a->steps[i].gva == gva && a->steps[i].taken_at == taken_at)
			return NULL;
		if (a->steps[i].gva == gva)
			latest = &a->steps[i];
	}
	return latest && latest->given ? latest : NULL;
}

/* Returns whether this section was not seen between the two of the pair, and can be recorded there. */
static bool is_news(const struct section_pair *pair, uint64_t taken_at)
{
	bool room = false;

	for (unsigned i = 0; i < SECTION_BETWEEN_MAX; i++) {
		if (pair->between[i].count && pair->between[i].taken_at == taken_at)
			return false;
		room |= !pair->between[i].count;
	}
	return room;
}

bool sections_is_second(const struct sections *s, uint64_t taken_at)
{
	for (unsigned i = 0; i < s->pair_count; i++) {
		if (s->pairs[i].second == taken_at)
			return true;
	}
	return false;
}

bool sections_gap(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t taken_at, struct section_gap *out)
{
	const struct section_function *f = function_of(s, taken_at);
	const struct section_activation *a = f ? find(s, who, f->start) : NULL;
	const struct section_step *first = a && a->held_at != taken_at ? latest_step(a, gva, taken_at) : NULL;
	const struct section_pair *pair = first ? find_pair(s, first->taken_at, taken_at) : NULL;
	const struct section_lock *l = lock_at(s, gva);

	if (!pair || l->gva != gva || (pair->holds >= HOLDS_ALWAYS && pair->holds * pair->holds > pair->count))
		return false;
	for (unsigned i = 0; i < SECTION_LATEST_MAX; i++) {
		if (!l->latest[i].step.taken || lock_who_same(&l->latest[i].who, who) ||
		    !is_news(pair, l->latest[i].step.taken_at))
			continue;
		*out = (struct section_gap){.who = *who,
					    .start = f->start,
					    .gva = gva,
					    .first = first->taken_at,
					    .second = taken_at,
					    .after = first->given};
		return !sections_gap_met(s, out);
	}
	return false;
}

void sections_hold(struct sections *s, const struct section_gap *gap, uint64_t number)
{
	struct section_activation *a = find(s, &gap->who, gap->start);
	struct section_pair *pair = find_pair(s, gap->first, gap->second);

	if (!a || !pair)
		return;
	a->held_at = gap->second;
	a->held_from = number;
	pair->holds++;
}

bool sections_gap_met(struct sections *s, const struct section_gap *gap)
{
	const struct section_pair *pair = find_pair(s, gap->first, gap->second);
	const struct section_lock *l = lock_at(s, gap->gva);

	for (unsigned i = 0; pair && l->gva == gap->gva && i < SECTION_LATEST_MAX; i++) {
		if (is_between(l, i, &gap->who, gap->after) && is_news(pair, l->latest[i].step.taken_at))
			return true;
	}
	return false;
}

void sections_take(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t taken_at, uint64_t number)
{
	const struct section_step step = {.gva = gva, .taken_at = taken_at, .taken = number};
	const struct section_function *f = function_of(s, taken_at);
	struct section_activation *a = f ? find(s, who, f->start) : NULL;

	if (a)
		pair_up(s, a, &step);
	lock_taken(s, who, &step);
}

void sections_give(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t number)
{
	struct section_bucket *b = bucket_of(s, who);

	for (unsigned i = 0; i < SECTION_BUCKET_SIZE; i++) {
		struct section_activation *a = &b->activations[i];

		if (!a->start || !lock_who_same(&a->who, who))
			continue;
		for (unsigned k = 0; k < a->count; k++) {
			if (a->steps[k].gva == gva && !a->steps[k].given)
				a->steps[k].given = number;
		}
	}
	lock_given(s, who, gva, number);
}

void sections_wait(struct sections *s, const struct lock_who *who, uint64_t number)
{
	struct section_bucket *b = bucket_of(s, who);

	for (unsigned i = 0; i < SECTION_BUCKET_SIZE; i++) {
		if (b->activations[i].start && lock_who_same(&b->activations[i].who, who))
			b->activations[i].waited = number;
	}
}

void sections_hole(struct sections *s)
{
	memset(s->buckets, 0, sizeof(s->buckets));
	memset(s->locks, 0, sizeof(s->locks));
}

void sections_text_gone(struct sections *s, uint64_t base, uint64_t size)
{
	size_t functions = 0;

	for (size_t i = 0; i < s->function_count; i++) {
		if (s->functions[i].start - base >= size)
			s->functions[functions++] = s->functions[i];
	}
	s->function_count = functions;
	sections_hole(s);
}
