// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sorts all accesses by datum, and compares each access with the other accesses to the same datum. Two sites may be suspected
 * for many data. The two accesses with the highest weight then represent the pair of sites.
 */
#include "pruner/locks/protect.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/order.h"
#include "pruner/locks/atomicity.h"
#include "pruner/locks/protect_choose.h"
#include "pruner/locks/protect_interrupt.h"
#include "pruner/locks/protect_pair.h"
#include "pruner/locks/protect_text.h"

/* A suspected pair of sites. */
struct found {
	/* The numbers of the two sites, the smaller one first: the key in the tree of all pairs (judging.tree). */
	uint32_t site[2];
	/* The two accesses that represent the pair, as indices into `order`. */
	uint32_t at[2];
	/* The weight of these two accesses. */
	unsigned weight;
};

struct judging {
	const struct protection *p;
	const struct prune_rules *rules;
	struct suspicions *out;
	struct protect_ordered order;
	/* For each access, by its index: the number of its site. */
	uint32_t *site;
	/* The pairs by their sites: a tree of tsearch(3). */
	void *tree;
	size_t found;
};

static const struct prot_access *access_at(const struct judging *j, uint32_t at)
{
	return &j->p->accesses[j->order.index[at]];
}

static int by_datum(const void *a, const void *b, void *ctx)
{
	const struct protection *p = ctx;
	const uint32_t *x = a, *y = b;
	int order = protect_order(&p->accesses[*x], &p->accesses[*y]);

	return order ? order : order_u64(*x, *y);
}

static int by_site(const void *a, const void *b, void *ctx)
{
	const struct protection *p = ctx;
	const uint32_t *x = a, *y = b;
	int order = strcmp(p->accesses[*x].site, p->accesses[*y].site);

	return order ? order : order_u64(*x, *y);
}

/* Give each site's name a number. This sorts the accesses by site; the caller sorts them again. */
static void number_sites(struct judging *j)
{
	struct protect_ordered *o = &j->order;
	uint32_t number = 0;

	qsort_r(o->index, o->count, sizeof(*o->index), by_site, (void *)j->p);
	for (uint32_t i = 0; i < o->count; i++) {
		if (i && strcmp(access_at(j, i - 1)->site, access_at(j, i)->site))
			number++;
		j->site[o->index[i]] = number;
	}
}

static int put_in_order(struct judging *j)
{
	struct protect_ordered *o = &j->order;
	uint32_t n = j->p->access_count;

	*o = (struct protect_ordered){.p = j->p, .count = n, .index = calloc((size_t)n + 1, sizeof(*o->index))};
	j->site = calloc((size_t)n + 1, sizeof(*j->site));
	if (!o->index || !j->site)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		o->index[i] = i;
	number_sites(j);
	qsort_r(o->index, n, sizeof(*o->index), by_datum, (void *)j->p);
	return 0;
}

static void end(struct judging *j)
{
	tdestroy(j->tree, free);
	free(j->order.index);
	free(j->site);
}

/*
 * Returns the weight of two accesses as evidence about their sites: 2 if their operations were seen to run at the same time,
 * plus 1 if either access holds a lock in the datum's own object.
 */
static unsigned weigh(const struct protection *p, const struct prot_access *a, const struct prot_access *b)
{
	unsigned weight = protect_pair_concurrent(p, a, b) ? 2 : 0;

	for (unsigned i = 0; i < a->held_count; i++)
		weight |= protect_inside(p, a, a->held[i].lock);
	for (unsigned i = 0; i < b->held_count; i++)
		weight |= protect_inside(p, b, b->held[i].lock);
	return weight;
}

static int by_key(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int order = order_u64(x->site[0], y->site[0]);

	return order ? order : order_u64(x->site[1], y->site[1]);
}

/* Store the two accesses for their pair of sites, unless the stored ones weigh more. Returns 0, or -1 when memory ran out. */
static int store_pair(struct judging *j, uint32_t x, uint32_t y)
{
	uint32_t a = j->site[j->order.index[x]], b = j->site[j->order.index[y]];
	struct found *f, **in;

	if (j->found == SUSPICIONS_MAX) {
		j->out->lost++;
		return 0;
	}
	f = malloc(sizeof(*f));
	if (!f)
		return -1;
	*f = (struct found){
		.site = {a < b ? a : b, a < b ? b : a}, .at = {x, y}, .weight = weigh(j->p, access_at(j, x), access_at(j, y))};
	in = tsearch(f, &j->tree, by_key);
	if (in && *in == f) {
		j->found++;
		return 0;
	}
	if (in && f->weight > (*in)->weight)
		**in = *f;
	free(f);
	return in ? 0 : -1;
}

/* Compare all accesses to the datum at index `from` of the order. Returns the index after them, or 0 if memory ran out. */
static uint32_t compare_datum(struct judging *j, uint32_t from)
{
	const struct prot_access *first = access_at(j, from);
	uint32_t to = from;

	while (to < j->order.count && protect_same_datum(access_at(j, to), first))
		to++;
	for (uint32_t x = from; x < to; x++) {
		for (uint32_t y = x; y < to; y++) {
			int outcome = protect_pair(j->p, j->rules, access_at(j, x), access_at(j, y));

			if (outcome < PROTECT_LEFT_OUT)
				j->out->left_out[outcome]++;
			else if (outcome == PROTECT_SUSPECTED && store_pair(j, x, y))
				return 0;
		}
	}
	return to;
}

static int compare_all(struct judging *j)
{
	for (uint32_t at = 0; at < j->order.count;) {
		at = compare_datum(j, at);
		if (!at)
			return -1;
	}
	return 0;
}

static void add_pair(const void *node, VISIT visit, void *ctx)
{
	struct judging *j = ctx;
	const struct found *f = *(const struct found *const *)node;
	struct suspicion *s;

	if (visit != postorder && visit != leaf)
		return;
	s = &j->out->list[j->out->count++];
	*s = (struct suspicion){.kind = SUSPICION_UNPROTECTED};
	protect_choose(&j->order, f->at, s);
	race_id(j->p->accesses[s->side[0]].site, j->p->accesses[s->side[1]].site, s->id);
	protect_rank(j->p, j->rules, s);
}

/*
 * Sort by rank, the highest first. The id, the kind and the index decide between equal ranks, so that the same record always
 * gives the same order. drop_repeated() keeps the first suspicion with an id.
 */
static int by_rank(const void *a, const void *b)
{
	const struct suspicion *x = a, *y = b;
	int order = (y->rank > x->rank) - (y->rank < x->rank);

	if (!order)
		order = strcmp(x->id, y->id);
	if (!order)
		order = order_u64(x->kind, y->kind);
	return order ? order : order_u64(x->side[0], y->side[0]);
}

/*
 * Returns whether an earlier entry of the list has the same id. Only suspicions about interrupts can share an id: the id is a
 * hash of the two sites that take the lock, and these sites may take the lock of many objects of one type. Of all other
 * suspicions, a pair of sites is in the list only once.
 */
static bool listed_before(const struct suspicions *s, size_t i)
{
	for (size_t k = 0; k < i && s->list[i].kind == SUSPICION_INTERRUPT; k++) {
		if (s->list[k].kind == SUSPICION_INTERRUPT && !strcmp(s->list[k].id, s->list[i].id))
			return true;
	}
	return false;
}

static void drop_repeated(struct suspicions *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		s->list[kept] = s->list[i];
		kept += !listed_before(s, kept);
	}
	s->count = kept;
}

static int make_list(struct judging *j)
{
	const struct protection *p = j->p;
	struct suspicions *out = j->out;
	struct atomicity steps;

	if (atomicity_judge(p, &steps, out) == 0)
		out->list = calloc(j->found + p->take_count + steps.count + 1, sizeof(*out->list));
	if (!out->list) {
		free(steps.list);
		return -1;
	}
	twalk_r(j->tree, add_pair, j);
	for (size_t i = 0; i < steps.count; i++) {
		if (out->count == SUSPICIONS_MAX)
			out->lost++;
		else
			out->list[out->count++] = steps.list[i];
	}
	free(steps.list);
	for (uint32_t i = 0; i < p->take_count; i++)
		out->count += protect_interrupt(p, i, &out->list[out->count]);
	qsort(out->list, out->count, sizeof(*out->list), by_rank);
	drop_repeated(out);
	for (size_t i = 0; i < out->count; i++)
		protect_describe(p, &out->list[i]);
	return 0;
}

int protect_judge(const struct protection *p, const struct prune_rules *rules, struct suspicions *out, struct err *err)
{
	struct judging j = {.p = p, .rules = rules, .out = out};
	int ret;

	*out = (struct suspicions){0};
	ret = put_in_order(&j) || compare_all(&j) || make_list(&j) ? -1 : 0;
	if (ret)
		err_set(err, EXIT_INTERNAL, "memory ran out while locks were compared");
	end(&j);
	return ret;
}
