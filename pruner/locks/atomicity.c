// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds atomicity suspicions: sorts the accesses under each lock by object and datum, and looks in each object for two critical
 * sections of one function and a section of another context that can come in between. The same pair of sections on the same
 * member of several objects is one result.
 */
#include "pruner/locks/atomicity.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/order.h"
#include "pruner/locks/atomicity_facts.h"
#include "pruner/locks/protect_pair.h"

#define WORD 8u
/*
 * Maximum number of uses (struct prot_use) of one object under one lock. An object with more uses, such as a large array, is
 * skipped: comparing all of its uses with each other would take too long.
 */
#define GROUP_MAX 4096u

/*
 * The points that add up to a rank. Each suspicion has RANK_SEEN or RANK_CONFIRMED: the run saw the section in between, or a
 * copy confirms the suspicion.
 */
#define RANK_BASE 45
#define RANK_SEEN 30
#define RANK_INSIDE 15
#define RANK_TWO_WRITERS 5
#define RANK_CONFIRMED 30
/* The run read the checked datum again before the second section, and it had changed. */
#define RANK_MOVED 10
#define RANK_NOT_CONFIRMED (-20)
/* If at least this many copies had the outcome of a serial order, and none confirmed the suspicion, its rank is lower by 20. */
#define COPIES_IN_VAIN 4u

/*
 * A result: a pair of sections on a datum, or on two data of one object. The results are in a tree of tsearch(3), whose key is
 * the first two members.
 */
struct found {
	uint32_t section;
	uint64_t datum[2];
	int told; /* enum atomicity_told */
	/* Of two suspicions with the same key, the one with the higher weight is kept. */
	unsigned weight;
	struct suspicion s;
	struct suspicion_follow follow;
};

struct judging {
	const struct protection *p;
	uint32_t *order; /* indices into p->uses[] */
	/* Judge pairs of sections that are under two different locks. Otherwise judge pairs under one lock. */
	bool two_locks;
	void *tree; /* of struct found, of tsearch(3) */
	size_t found;
	struct atomicity *out;
	struct suspicions *counts;
	bool no_memory, listing_near;
};

/*
 * Returns the GVA at which the object or the variable of the access begins. If neither is known, returns the GVA of the word
 * that the access is to.
 */
static uint64_t owner_of(const struct prot_access *a)
{
	if (a->memory.object)
		return a->memory.object;
	return a->memory.symbol.name[0] ? a->memory.symbol.addr : a->gva / WORD * WORD;
}

/*
 * Compare two uses, so that the uses of one struct atomicity_group are equal: the uses of one object under one lock, or, if
 * `two_locks` is set, under any lock.
 */
static int by_owner(const struct judging *j, const struct prot_use *x, const struct prot_use *y)
{
	const struct prot_access *a = &j->p->accesses[x->access], *b = &j->p->accesses[y->access];
	int order = j->two_locks ? 0 : order_u64(x->lock, y->lock);

	if (!order)
		order = order_u64(owner_of(a), owner_of(b));
	return order ? order : order_u64(a->life, b->life);
}

static int by_datum(const void *a, const void *b, void *ctx)
{
	const struct judging *j = ctx;
	const struct protection *p = j->p;
	const struct prot_use *x = &p->uses[*(const uint32_t *)a], *y = &p->uses[*(const uint32_t *)b];
	int order = by_owner(j, x, y);

	if (!order)
		order = order_u64(p->accesses[x->access].gva, p->accesses[y->access].gva);
	return order ? order : order_u64(*(const uint32_t *)a, *(const uint32_t *)b);
}

static int by_key(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int order = order_u64(x->section, y->section);

	if (!order)
		order = order_u64(x->datum[0], y->datum[0]);
	return order ? order : order_u64(x->datum[1], y->datum[1]);
}

static bool is_suspicion(const struct found *f)
{
	return f->told == ATOMICITY_TOLD;
}

/* Returns whether the result lacks only sections in between to be a suspicion. */
static bool is_near(const struct found *f)
{
	return f->told == ATOMICITY_NEVER || f->told == ATOMICITY_ONCE;
}

/*
 * A suspicion is better than a result that is no suspicion, and of two suspicions the one with the higher weight is better. Of
 * other results, the best one is what lacks only sections in between to be a suspicion.
 */
static bool is_better(const struct found *f, const struct found *than)
{
	if (is_suspicion(f) != is_suspicion(than))
		return is_suspicion(f);
	return is_suspicion(f) ? f->weight > than->weight : is_near(f) && !is_near(than);
}

/* Store the result, unless a better one with the same key is stored. */
static void store(struct judging *j, const struct found *result)
{
	struct found *f = malloc(sizeof(*f)), **in;

	if (!f) {
		j->no_memory = true;
		return;
	}
	*f = *result;
	in = tsearch(f, &j->tree, by_key);
	if (in && *in == f) {
		j->found++;
		return;
	}
	if (in && is_better(f, *in))
		**in = *f;
	j->no_memory |= !in;
	free(f);
}

static int rank_of_replay(const struct section_replay *replay)
{
	enum section_verdict verdict = section_verdict(replay);

	if (verdict == SECTION_VERDICT_CONFIRMED)
		return RANK_CONFIRMED;
	return verdict == SECTION_VERDICT_NOT_CONFIRMED && section_replay_told(replay) >= COPIES_IN_VAIN ? RANK_NOT_CONFIRMED
													 : 0;
}

static void add(struct judging *j, const struct atomicity_case *c, int told, enum atomicity_pattern pattern)
{
	const struct prot_access *a = atomicity_access(c->group, c->first), *b = atomicity_access(c->group, c->second);
	const struct prot_access *r = atomicity_access(c->group, c->between);
	const struct section_between *seen = atomicity_came_between(c->sections, c->between->taken_at);
	struct found f = {.section = (uint32_t)(c->sections - j->p->sections),
			  .datum = {(a->gva - owner_of(a)) / WORD, (b->gva - owner_of(b)) / WORD},
			  .told = told,
			  .weight = seen ? 2 : 1};
	const struct section_replay *replay = atomicity_replay(c);
	const struct section_fate *fate =
		section_fate_find(j->p->fates, j->p->fate_count, a->pc, c->sections->first, c->sections->second);
	bool moved = fate && fate->moved_bits & atomicity_checked_bits(c->first);

	f.weight += section_verdict(replay) == SECTION_VERDICT_CONFIRMED ? 4 : 0;

	f.s = (struct suspicion){.kind = SUSPICION_ATOMICITY,
				 .pattern = pattern,
				 .side = {c->first->access, c->second->access},
				 .between = c->between->access,
				 .lock = c->first->lock,
				 .calls = {c->sections->first, c->sections->second},
				 .moved = moved,
				 .second_lock = c->second->lock,
				 .caller = c->sections->caller ? c->sections->caller_name + 1 : 0,
				 .held = seen ? seen->count : 0,
				 .by_hold = seen ? seen->by_hold : 0,
				 .total = c->sections->count,
				 .verdict = section_verdict(replay),
				 .replay = replay ? (uint32_t)(replay - j->p->section_replays) + 1 : 0,
				 .concurrent = seen || protect_pair_concurrent(j->p, a, r)};
	f.s.rank = RANK_BASE + (seen ? RANK_SEEN : 0) + (protect_inside(j->p, a, c->first->lock) ? RANK_INSIDE : 0) +
		   (b->rw & r->rw & INSN_WRITE ? RANK_TWO_WRITERS : 0) + rank_of_replay(replay) + (moved ? RANK_MOVED : 0);
	f.follow = (struct suspicion_follow){.pc = a->pc,
					     .between_pc = r->pc,
					     .first = c->sections->first,
					     .second = c->sections->second,
					     .between = c->between->taken_at,
					     .test = c->first->test};
	store(j, &f);
}

/*
 * Returns whether different contexts made the accesses that `a` and `b` stand for. Returns false if one task, or one kind of
 * interrupt on one CPU, made all of them. (An entry of the record, struct prot_access, stands for a number of equal accesses.)
 */
static bool by_others(const struct prot_access *a, const struct prot_access *b)
{
	return a->several || b->several || a->who != b->who || (a->who < 0 && a->context != b->context);
}

static bool is_shared(const struct prot_access *a)
{
	return a->count_shared && a->memory.kind != GUEST_MEMORY_PER_CPU && a->memory.kind != GUEST_MEMORY_STACK;
}

static const struct section_pair *sections_from(const struct protection *p, uint64_t first)
{
	uint32_t from = 0, to = p->section_count;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (p->sections[middle].first < first)
			from = middle + 1;
		else
			to = middle;
	}
	return p->sections + from;
}

static bool follows(const struct protection *p, uint64_t first, uint64_t second)
{
	for (const struct section_pair *s = sections_from(p, first); s < p->sections + p->section_count && s->first == first;
	     s++) {
		if (s->second == second)
			return true;
	}
	return false;
}

/*
 * Returns whether the function has a third section that accesses the datum and runs between the two sections of the case. The
 * first section is then judged together with the third section instead of the second one.
 */
static bool another_between(const struct atomicity_case *c)
{
	const struct protection *p = c->group->p;

	for (uint32_t i = 0; i < c->group->count; i++) {
		const struct prot_use *use = atomicity_use(c->group, i);

		if (use->taken_at != c->sections->first && use->taken_at != c->sections->second &&
		    atomicity_in(c->group, use, use->taken_at, atomicity_access(c->group, c->first)) &&
		    follows(p, c->sections->first, use->taken_at) && follows(p, use->taken_at, c->sections->second))
			return true;
	}
	return false;
}

/* Returns whether the access was certainly made under this lock, which no other context held then. */
static bool holds_alone(const struct prot_access *a, uint32_t lock)
{
	const struct prot_held *held = protect_held(a, lock);

	return held && !held->shared && !held->maybe;
}

/*
 * Returns whether the locks let the section of `use` come between the two sections of the case, and keep it from coming during
 * one of them. If the two sections are under two locks, the section of `use` must be under both locks.
 */
static bool locks_fit(const struct atomicity_case *c, const struct prot_use *use)
{
	const struct prot_access *a = atomicity_access(c->group, use);

	if (!c->sections->two_locks)
		return true;
	return use->lock == c->second->lock && holds_alone(a, c->first->lock) && holds_alone(a, c->second->lock);
}

/*
 * Judge these two sections with each section of another context that accesses the datum. `publish`: the two sections access
 * different data, and the section in between accesses the second one.
 */
static void try_between(struct judging *j, struct atomicity_case *c, bool publish)
{
	const struct atomicity_group *g = c->group;
	const struct prot_access *first = atomicity_access(g, c->first), *second = atomicity_access(g, c->second);

	for (uint32_t i = 0; i < g->count; i++) {
		const struct prot_use *use = atomicity_use(g, i);
		const struct prot_access *r = atomicity_access(g, use);
		enum atomicity_pattern pattern = ATOMICITY_PUBLISH;
		int told;

		if (!protect_same_datum(r, second) || !protect_overlap(r, second) || !is_shared(r) || !by_others(first, r) ||
		    !locks_fit(c, use))
			continue;
		if (!publish && !protect_overlap(r, first))
			continue;
		c->between = use;
		if (publish)
			told = r->rw & INSN_WRITE ? -1 : atomicity_tell_publish(c);
		else
			told = atomicity_tell(c, &pattern);
		if (told >= 0)
			add(j, c, told, pattern);
	}
}

static void try_second(struct judging *j, struct atomicity_case *c)
{
	const struct atomicity_group *g = c->group;
	const struct prot_access *first = atomicity_access(g, c->first);

	for (uint32_t i = 0; i < g->count; i++) {
		const struct prot_use *use = atomicity_use(g, i);
		const struct prot_access *second = atomicity_access(g, use);

		if (use->taken_at != c->sections->second || !is_shared(second) ||
		    (use->lock != c->first->lock) != c->sections->two_locks)
			continue;
		c->second = use;
		if (protect_same_datum(first, second) && protect_overlap(first, second)) {
			if (!another_between(c))
				try_between(j, c, false);
		} else if (first->rw & second->rw & INSN_WRITE && !protect_same_datum(first, second) &&
			   !c->sections->two_locks) {
			try_between(j, c, true);
		}
	}
}

static void judge_group(struct judging *j, const struct atomicity_group *g)
{
	const struct section_pair *end = j->p->sections + j->p->section_count;

	if (g->count > GROUP_MAX)
		return;
	for (uint32_t i = 0; i < g->count; i++) {
		const struct prot_use *use = atomicity_use(g, i);

		if (!is_shared(atomicity_access(g, use)))
			continue;
		for (const struct section_pair *s = sections_from(j->p, use->taken_at); s < end && s->first == use->taken_at;
		     s++) {
			if (s->two_locks == j->two_locks)
				try_second(j, &(struct atomicity_case){.group = g, .sections = s, .first = use});
		}
	}
}

static void judge_groups(struct judging *j, bool two_locks)
{
	uint32_t to;

	j->two_locks = two_locks;
	for (uint32_t i = 0; i < j->p->use_count; i++)
		j->order[i] = i;
	qsort_r(j->order, j->p->use_count, sizeof(*j->order), by_datum, j);
	for (uint32_t from = 0; from < j->p->use_count; from = to) {
		const struct prot_use *first = &j->p->uses[j->order[from]];

		for (to = from + 1; to < j->p->use_count && !by_owner(j, first, &j->p->uses[j->order[to]]);)
			to++;
		judge_group(j, &(struct atomicity_group){.p = j->p, .uses = j->order + from, .count = to - from});
	}
}

/* List the data of suspicions, or, if j->listing_near is set, of pairs that lack only sections in between. */
static void list_follow(const void *node, VISIT visit, void *ctx)
{
	struct judging *j = ctx;
	const struct found *f = *(const struct found *const *)node;
	const struct prot_access *first = &j->p->accesses[f->s.side[0]], *between = &j->p->accesses[f->s.between];

	if ((visit != postorder && visit != leaf) || !(j->listing_near ? is_near(f) : is_suspicion(f)) ||
	    first->rw & INSN_WRITE || !(between->rw & INSN_WRITE) || j->counts->follow_count == SUSPICIONS_FOLLOW_MAX)
		return;
	j->counts->follow[j->counts->follow_count] = f->follow;
	j->counts->follow[j->counts->follow_count++].suspected = !j->listing_near;
}

static void list_one(const void *node, VISIT visit, void *ctx)
{
	struct judging *j = ctx;
	const struct found *f = *(const struct found *const *)node;
	char sections[2 * SITE_NAME_MAX + 32];
	struct suspicion *s;

	if (visit != postorder && visit != leaf)
		return;
	if (!is_suspicion(f)) {
		if (!j->counts->told[f->told]++)
			atomicity_describe(j->p, &f->s, f->told, j->counts->told_text[f->told],
					   sizeof(j->counts->told_text[f->told]));
		return;
	}
	s = &j->out->list[j->out->count++];
	*s = f->s;
	snprintf(sections, sizeof(sections), "atomicity %s .. %s", j->p->accesses[s->side[0]].site,
		 j->p->accesses[s->side[1]].site);
	race_id(sections, j->p->accesses[s->between].site, s->id);
}

int atomicity_judge(const struct protection *p, struct atomicity *out, struct suspicions *counts)
{
	struct judging j = {.p = p, .out = out, .counts = counts};
	int ret = -1;

	*out = (struct atomicity){0};
	j.order = calloc((size_t)p->use_count + 1, sizeof(*j.order));
	if (j.order) {
		judge_groups(&j, false);
		judge_groups(&j, true);
		out->list = calloc(j.found + 1, sizeof(*out->list));
	}
	if (out->list && !j.no_memory) {
		twalk_r(j.tree, list_one, &j);
		twalk_r(j.tree, list_follow, &j);
		j.listing_near = true;
		twalk_r(j.tree, list_follow, &j);
		ret = 0;
	}
	tdestroy(j.tree, free);
	free(j.order);
	return ret;
}
