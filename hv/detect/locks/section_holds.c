// SPDX-License-Identifier: GPL-2.0-or-later
/* Says where to hold a CPU so that another context's section can come between two critical sections (section_holds.h). */
#include "hv/detect/locks/section_holds.h"

/*
 * As long as a CPU was held fewer than 32 times between the sections of a pair, sections_gap() asks for a hold each time that
 * there is a reason. From 32 holds on, it does so only if the square of the number of holds is at most section_pair.count, the
 * number of times that the pair was seen. So holds become rare for a pair for which they were in vain.
 */
#define HOLDS_ALWAYS 32u

/* ---- before the second section ---- */

/*
 * The call at `taken_at` is about to take the lock `gva`, and so to begin a section. Returns the latest earlier section of the
 * activation that is the first section of a known pair with this call as its second. A section of the lock `gva` is preferred
 * to a section of another lock. Returns NULL if there is none, or if a section of the lock `gva` has not ended. Also returns
 * NULL if the call took the lock in this activation before: then the activation is in a loop.
 */
static const struct section_step *latest_step(struct sections *s, const struct section_activation *a, uint64_t gva,
					      uint64_t taken_at)
{
	const struct section_step *latest = NULL;

	for (unsigned i = 0; i < a->count; i++) {
		const struct section_step *step = &a->steps[i];
		const struct section_pair *pair = sections_pair(s, step->taken_at, taken_at);

		if (step->gva == gva && (step->taken_at == taken_at || !step->given))
			return NULL;
		if (!pair || (pair->caller && pair->caller != a->start) || !step->given)
			continue;
		if (step->gva == gva || !latest || latest->gva != gva)
			latest = step;
	}
	return latest;
}

/*
 * Returns whether the section that the call at `taken_at` begins was never seen between the pair's sections, and the pair has
 * room to record it.
 */
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

/* Does what sections_gap() does, for one activation. */
static bool gap_in(struct sections *s, const struct section_activation *a, uint64_t gva, uint64_t taken_at,
		   struct section_gap *out)
{
	const struct section_step *first = latest_step(s, a, gva, taken_at);
	const struct section_pair *pair = first ? sections_pair(s, first->taken_at, taken_at) : NULL;
	const struct section_lock *l = sections_latest(s, gva);

	if (!pair || l->gva != gva || (pair->holds >= HOLDS_ALWAYS && pair->holds * pair->holds > pair->count))
		return false;
	for (unsigned i = 0; i < SECTION_LATEST_MAX; i++) {
		if (!sections_excludes(l, i, first->gva) || lock_who_same(&l->latest[i].who, &a->who) ||
		    !is_news(pair, l->latest[i].step.taken_at))
			continue;
		*out = (struct section_gap){.who = a->who, .start = a->start, .gva = gva, .second = taken_at, .first = *first};
		return !sections_gap_met(s, out);
	}
	return false;
}

bool sections_gap(struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t taken_at,
		  const struct call_chain *chain, struct section_gap *out)
{
	const struct section_function *f = sections_function(s, taken_at);
	const struct section_activation *list[1 + CALLERS_MAX];
	unsigned n = 0;

	list[n] = f ? sections_activation(s, who, f->start) : NULL;
	n += list[n] != NULL;
	for (unsigned i = 0; i < chain->count; i++) {
		list[n] = sections_of_caller(s, who, &chain->frames[i]);
		n += list[n] != NULL;
	}
	for (unsigned i = 0; i < n; i++) {
		if (list[i]->held_at == taken_at)
			return false;
	}
	for (unsigned i = 0; i < n; i++) {
		if (gap_in(s, list[i], gva, taken_at, out))
			return true;
	}
	return false;
}

/* ---- before the first section ---- */

bool sections_is_first(const struct sections *s, uint64_t taken_at)
{
	for (unsigned i = 0; i < s->pair_count; i++) {
		if (s->pairs[i].first == taken_at)
			return true;
	}
	return false;
}

/* Returns whether the function whose activations make the pair's sections is in progress. */
static bool is_in_progress(const struct section_pair *pair, const struct call_chain *chain)
{
	bool found = !pair->caller || chain->function == pair->caller;

	for (unsigned i = 0; i < chain->count; i++)
		found |= chain->frames[i].function == pair->caller;
	return found;
}

const struct section_pair *sections_find(const struct sections *s, uint64_t first, uint64_t between,
					 const struct call_chain *chain, section_wanted *wanted, void *ctx)
{
	for (unsigned i = 0; i < s->pair_count; i++) {
		const struct section_pair *pair = &s->pairs[i];

		if (pair->first == first && is_in_progress(pair, chain) && wanted(ctx, first, pair->second, between))
			return pair;
	}
	return NULL;
}

bool sections_worth(const struct sections *s, const struct lock_who *who, uint64_t gva, uint64_t first,
		    const struct call_chain *chain, section_wanted *wanted, void *ctx)
{
	const struct section_lock *l = sections_latest(s, gva);

	for (unsigned i = 0; l->gva == gva && i < SECTION_LATEST_MAX; i++) {
		const struct section_step *step = &l->latest[i].step;
		const struct section_pair *pair;

		if (!step->taken || lock_who_same(&l->latest[i].who, who))
			continue;
		pair = sections_find(s, first, step->taken_at, chain, wanted, ctx);
		if (pair && (!pair->two_locks || l->latest[i].with[0]))
			return true;
	}
	return false;
}

void sections_hold(struct sections *s, const struct section_gap *gap, uint64_t number)
{
	struct section_activation *a = sections_activation(s, &gap->who, gap->start);
	struct section_pair *pair = sections_pair(s, gap->first.taken_at, gap->second);

	if (!a || !pair)
		return;
	a->held_at = gap->second;
	a->held_from = number;
	pair->holds++;
}

bool sections_gap_met(struct sections *s, const struct section_gap *gap)
{
	const struct section_pair *pair = sections_pair(s, gap->first.taken_at, gap->second);
	const struct section_lock *l = sections_latest(s, gap->gva);

	for (unsigned i = 0; pair && l->gva == gap->gva && i < SECTION_LATEST_MAX; i++) {
		if (sections_is_between(l, i, &gap->who, &gap->first) && sections_excludes(l, i, gap->first.gva) &&
		    is_news(pair, l->latest[i].step.taken_at))
			return true;
	}
	return false;
}
