// SPDX-License-Identifier: GPL-2.0-or-later
/* Critical sections that follow each other in one activation of a function (sections.h). */
#include "hv/detect/locks/sections.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"

/* Locks are at least 4 bytes apart. The multiplier spreads addresses over the table (Knuth, TAOCP vol. 3, 6.4). */
#define HASH_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)
#define LOCK_SHIFT 54u	 /* leaves the 10 bits of SECTION_LOCKS_MAX */
#define BUCKET_SHIFT 58u /* leaves the 6 bits of SECTION_BUCKETS */

_Static_assert(SECTION_LOCKS_MAX == 1u << (64 - LOCK_SHIFT), "the hash has one value for each lock of the table");
_Static_assert(SECTION_BUCKETS == 1u << (64 - BUCKET_SHIFT), "the hash has one value for each bucket");

void sections_fini(struct sections *s)
{
	free(s->functions);
	s->functions = NULL;
	s->function_count = 0;
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

const struct section_function *sections_function(const struct sections *s, uint64_t pc)
{
	size_t n = functions_up_to(s, pc);

	return n && pc < s->functions[n - 1].end ? &s->functions[n - 1] : NULL;
}

int sections_follow(struct sections *s, const struct section_function *function)
{
	size_t at = functions_up_to(s, function->start);
	struct section_function *to;

	if (at && s->functions[at - 1].start == function->start) {
		if (function->frame)
			s->functions[at - 1] = *function;
		return 0;
	}
	to = list_insert(&s->functions, &s->function_count, at, sizeof(*to), NULL);
	if (!to)
		return -1;
	*to = *function;
	return 0;
}

/* ---- activations ---- */

static struct section_bucket *bucket_of(struct sections *s, const struct lock_who *who)
{
	return &s->buckets[((uint64_t)who->who * HASH_MULTIPLIER) >> BUCKET_SHIFT];
}

struct section_activation *sections_activation(struct sections *s, const struct lock_who *who, uint64_t start)
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
	const struct section_function *f = sections_function(s, pc);

	return f && f->begin == pc;
}

void sections_at(struct sections *s, const struct lock_who *who, uint64_t pc, uint64_t rsp)
{
	const struct section_function *f = sections_function(s, pc);
	struct section_activation *a;

	if (!f || f->begin != pc)
		return;
	a = sections_activation(s, who, f->start);
	if (!a)
		a = make(bucket_of(s, who));
	*a = (struct section_activation){.who = *who, .start = f->start, .cfa = f->frame ? rsp + f->frame : 0};
}

struct section_activation *sections_of_caller(struct sections *s, const struct lock_who *who, const struct caller_frame *frame)
{
	struct section_activation *a = sections_activation(s, who, frame->function);

	return a && a->cfa == frame->cfa && (!frame->jumped || frame->jumped == a->jumped) ? a : NULL;
}

void sections_jump(struct sections *s, const struct lock_who *who, uint64_t pc, uint64_t target)
{
	const struct section_function *f = sections_function(s, pc);
	struct section_activation *a = f ? sections_activation(s, who, f->start) : NULL;

	if (a)
		a->jumped = target;
}

static bool is_open(const struct section_activation *a, const struct section_step *step)
{
	(void)a;
	return !step->given;
}

static bool is_called(const struct section_activation *a, const struct section_step *step)
{
	return step->function != a->start;
}

/* Forget the activation's sections of this lock: those for which `which` returns true, or, if it is NULL, all. */
static void forget_steps(struct section_activation *a, uint64_t gva,
			 bool (*which)(const struct section_activation *a, const struct section_step *step))
{
	unsigned kept = 0;

	for (unsigned i = 0; i < a->count; i++) {
		if (a->steps[i].gva != gva || (which && !which(a, &a->steps[i])))
			a->steps[kept++] = a->steps[i];
		else
			a->called -= is_called(a, &a->steps[i]);
	}
	a->count = kept;
}

/* ---- the sections of a lock ---- */

static size_t lock_index(uint64_t gva)
{
	return (gva * HASH_MULTIPLIER) >> LOCK_SHIFT;
}

static struct section_lock *lock_at(struct sections *s, uint64_t gva)
{
	return &s->locks[lock_index(gva)];
}

const struct section_lock *sections_latest(const struct sections *s, uint64_t gva)
{
	return &s->locks[lock_index(gva)];
}

static void lock_taken(struct sections *s, const struct lock_who *who, const struct section_step *step)
{
	struct section_lock *l = lock_at(s, step->gva);

	if (l->gva != step->gva)
		*l = (struct section_lock){.gva = step->gva};
	l->latest[l->next].who = *who;
	l->latest[l->next].step = *step;
	memset(l->latest[l->next].with, 0, sizeof(l->latest[l->next].with));
	l->next = (l->next + 1) % SECTION_LATEST_MAX;
}

static void update(struct section_step *step, const struct section_step *now)
{
	step->given = now->given;
	step->left = step->left ? step->left : now->left;
	step->shared |= now->shared;
}

static void lock_changed(struct sections *s, const struct lock_who *who, const struct section_step *now)
{
	struct section_lock *l = lock_at(s, now->gva);

	for (unsigned i = 0; l->gva == now->gva && i < SECTION_LATEST_MAX; i++) {
		struct section_step *step = &l->latest[i].step;

		if (step->taken && !step->given && lock_who_same(&l->latest[i].who, who))
			update(step, now);
	}
}

/* The context takes the lock, which it cannot hold yet: forget its sections of the lock whose ends were missed. */
static void forget_open(struct sections *s, const struct lock_who *who, uint64_t gva)
{
	struct section_bucket *b = bucket_of(s, who);
	struct section_lock *l = lock_at(s, gva);

	for (unsigned i = 0; i < SECTION_BUCKET_SIZE; i++) {
		if (b->activations[i].start && lock_who_same(&b->activations[i].who, who))
			forget_steps(&b->activations[i], gva, is_open);
	}
	for (unsigned i = 0; l->gva == gva && i < SECTION_LATEST_MAX; i++) {
		if (!l->latest[i].step.given && lock_who_same(&l->latest[i].who, who))
			l->latest[i].step.taken = 0;
	}
}

/* Record in the context's section of the lock `gva` that the context also holds the lock `with`. */
static void held_with(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t with)
{
	struct section_lock *l = lock_at(s, gva);

	for (unsigned i = 0; l->gva == gva && i < SECTION_LATEST_MAX; i++) {
		const struct section_step *step = &l->latest[i].step;
		unsigned k = 0;

		if (!step->taken || step->given || !lock_who_same(&l->latest[i].who, who))
			continue;
		while (k < SECTION_WITH_MAX && l->latest[i].with[k] && l->latest[i].with[k] != with)
			k++;
		if (k < SECTION_WITH_MAX)
			l->latest[i].with[k] = with;
	}
}

void sections_nested(struct sections *s, const struct lock_who *who, uint64_t inner, uint64_t outer)
{
	if (inner == outer)
		return;
	held_with(s, who, inner, outer);
	held_with(s, who, outer, inner);
}

bool sections_excludes(const struct section_lock *l, unsigned i, uint64_t first)
{
	bool both = l->gva == first;

	for (unsigned k = 0; k < SECTION_WITH_MAX; k++)
		both |= l->latest[i].with[k] == first;
	return both && l->latest[i].step.taken;
}

/* Returns whether a context other than `who` lately had a section of the lock `second` while it held the lock `first`. */
static bool held_both(struct sections *s, const struct lock_who *who, uint64_t first, uint64_t second)
{
	const struct section_lock *l = lock_at(s, second);

	for (unsigned i = 0; l->gva == second && i < SECTION_LATEST_MAX; i++) {
		if (sections_excludes(l, i, first) && !lock_who_same(&l->latest[i].who, who))
			return true;
	}
	return false;
}

/* ---- pairs ---- */

struct section_pair *sections_pair(struct sections *s, uint64_t first, uint64_t second)
{
	for (unsigned i = 0; i < s->pair_count; i++) {
		if (s->pairs[i].first == first && s->pairs[i].second == second)
			return &s->pairs[i];
	}
	return NULL;
}

/*
 * Returns the pair of these sections in an activation of the function at `start`, and adds the pair if it is new. If several
 * functions call the same functions, each of them can make the same two sections. Then the pair is recorded only for the first
 * of these functions, or for the first one with section_pair.caller_decides. Returns NULL if there is no room, if the pair is
 * recorded for another function, or if the pair has one lock here and two locks in the record, or the reverse.
 */
static struct section_pair *pair_of(struct sections *s, const struct section_step *first, const struct section_step *second,
				    uint64_t start)
{
	const struct section_pair made = {
		.first = first->taken_at,
		.second = second->taken_at,
		.caller = first->function == second->function ? 0 : start,
		.caller_decides = first->function == start || first->decides,
		.two_locks = first->gva != second->gva,
	};
	struct section_pair *pair = sections_pair(s, made.first, made.second);

	if (!pair) {
		if (s->pair_count == SECTION_PAIRS_MAX)
			return NULL;
		pair = &s->pairs[s->pair_count++];
		*pair = made;
	} else if (pair->caller != made.caller && made.caller_decides && !pair->caller_decides) {
		*pair = made;
	}
	return pair->caller == made.caller && pair->two_locks == made.two_locks ? pair : NULL;
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

bool sections_is_between(const struct section_lock *l, unsigned i, const struct lock_who *who, const struct section_step *first)
{
	const struct section_step *step = &l->latest[i].step;
	bool waits = l->gva == first->gva && !(step->shared && first->shared) && step->taken > first->taken;

	return (step->taken > first->given || (waits && step->left > first->given)) && step->given &&
	       !lock_who_same(&l->latest[i].who, who);
}

/*
 * Count the sections of other contexts, under the lock of `second`, that lay wholly between the two sections. Sections in one
 * gap that take the lock by the same call count once.
 */
static void count_between(struct sections *s, const struct section_activation *a, const struct section_step *first,
			  const struct section_step *second, struct section_pair *pair)
{
	const struct section_lock *l = lock_at(s, second->gva);
	uint64_t seen[SECTION_LATEST_MAX];
	unsigned n = 0;

	for (unsigned i = 0; l->gva == second->gva && i < SECTION_LATEST_MAX; i++) {
		const struct section_step *step = &l->latest[i].step;
		unsigned k = 0;

		if (!sections_is_between(l, i, &a->who, first) || !sections_excludes(l, i, first->gva))
			continue;
		while (k < n && seen[k] != step->taken_at)
			k++;
		if (k < n)
			continue;
		seen[n++] = step->taken_at;
		came_between(pair, step->taken_at, a->held_at == pair->second && step->taken > a->held_from);
	}
}

/* Returns whether the call at `taken_at` made the activation's latest section of this lock. */
static bool made_latest(const struct section_activation *a, uint64_t gva, uint64_t taken_at)
{
	for (unsigned i = a->count; i > 0; i--) {
		if (a->steps[i - 1].gva == gva)
			return a->steps[i - 1].taken_at == taken_at;
	}
	return false;
}

static void add_step(struct section_activation *a, const struct section_step *step, bool in_row)
{
	bool called = step->function != a->start;

	if (called ? a->called == SECTION_CALLED_MAX : a->count - a->called == SECTION_STEPS_MAX)
		return;
	a->steps[a->count] = *step;
	a->steps[a->count++].in_row = in_row;
	a->called += called;
}

/*
 * Returns whether the two sections are a pair of this activation. If both are in one function that this activation called, they
 * are a pair of that function's activation instead.
 */
static bool belong(const struct section_activation *a, const struct section_step *first, const struct section_step *second)
{
	return first->function != second->function || first->function == a->start;
}

static void pair_up(struct sections *s, struct section_activation *a, const struct section_step *second)
{
	bool in_row = made_latest(a, second->gva, second->taken_at);

	for (unsigned i = 0; i < a->count; i++) {
		if (a->steps[i].gva == second->gva && a->steps[i].taken_at == second->taken_at) {
			forget_steps(a, second->gva, second->function != a->start ? is_called : NULL);
			break;
		}
	}
	for (unsigned i = 0; i < a->count; i++) {
		const struct section_step *first = &a->steps[i];
		struct section_pair *pair;

		if (!first->given || !belong(a, first, second) ||
		    (first->gva != second->gva && !held_both(s, &a->who, first->gva, second->gva)))
			continue;
		pair = pair_of(s, first, second, a->start);
		if (!pair)
			continue;
		pair->count++;
		pair->waited += a->waited > first->given;
		pair->in_row += first->in_row;
		count_between(s, a, first, second, pair);
		if (s->made_count < SECTION_MADE_MAX)
			s->made[s->made_count++] = first->taken;
	}
	a->held_at = a->held_from = 0;
	add_step(a, second, in_row);
}

/* ---- lock operations ---- */

void sections_take(struct sections *s, const struct lock_who *who, const struct section_call *call,
		   const struct call_chain *chain)
{
	const struct section_function *f = sections_function(s, call->taken_at);
	struct section_step step = {.gva = call->gva,
				    .taken_at = call->taken_at,
				    .taken = call->number,
				    .function = f ? f->start : chain->function,
				    .shared = call->shared};
	struct section_activation *a = f ? sections_activation(s, who, f->start) : NULL;

	s->made_count = 0;
	if (!call->shared)
		forget_open(s, who, call->gva);
	if (a)
		pair_up(s, a, &step);
	for (unsigned i = 0; i < chain->count; i++) {
		a = sections_of_caller(s, who, &chain->frames[i]);
		step.decides = chain->frames[i].decides;
		if (a && a->start != step.function)
			pair_up(s, a, &step);
	}
	lock_taken(s, who, &step);
}

/* Update the context's sections of this lock that have not ended, as `now` says: they ended, or became a reader's. */
static void change(struct sections *s, const struct lock_who *who, const struct section_step *now)
{
	struct section_bucket *b = bucket_of(s, who);

	for (unsigned i = 0; i < SECTION_BUCKET_SIZE; i++) {
		struct section_activation *a = &b->activations[i];

		if (!a->start || !lock_who_same(&a->who, who))
			continue;
		for (unsigned k = 0; k < a->count; k++) {
			if (a->steps[k].gva == now->gva && !a->steps[k].given)
				update(&a->steps[k], now);
		}
	}
	lock_changed(s, who, now);
}

bool sections_remembers(struct sections *s, const struct lock_who *who, uint64_t taken)
{
	struct section_bucket *b = bucket_of(s, who);
	bool found = false;

	for (unsigned i = 0; i < SECTION_BUCKET_SIZE; i++) {
		const struct section_activation *a = &b->activations[i];

		for (unsigned k = 0; a->start && lock_who_same(&a->who, who) && k < a->count; k++)
			found |= a->steps[k].taken == taken;
	}
	return found;
}

void sections_leave(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t number)
{
	change(s, who, &(struct section_step){.gva = gva, .left = number});
}

void sections_give(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t number)
{
	change(s, who, &(struct section_step){.gva = gva, .given = number, .left = number});
}

void sections_share(struct sections *s, const struct lock_who *who, uint64_t gva)
{
	change(s, who, &(struct section_step){.gva = gva, .shared = true});
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
