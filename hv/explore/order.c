// SPDX-License-Identifier: GPL-2.0-or-later
/* Orders candidates by clusters (order.h). */
#include "hv/explore/order.h"

#include <stdlib.h>
#include <string.h>

/* A candidate, with what it is sorted by. */
struct place {
	const struct explore_candidate *candidate;
	size_t rank;  /* its index in the order of the ranks */
	size_t round; /* the number of candidates of its cluster and class that rank higher */
};

static int compare(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

/*
 * Returns the start of the function that wants the access (explore_wants()). If this function is unknown, returns
 * explore_wants().
 */
static uint64_t function_start(const struct explore_side *s)
{
	const struct guest_symbol *function = s->access.caller ? &s->caller : &s->symbol;

	return function->name[0] ? function->addr : explore_wants(&s->access);
}

static int compare_function(const struct explore_side *a, const struct explore_side *b)
{
	return compare(function_start(a), function_start(b));
}

static int compare_class(const struct explore_candidate *a, const struct explore_candidate *b)
{
	int rc = compare(explore_reasons(a), explore_reasons(b));

	if (!rc)
		rc = compare(a->baseline, b->baseline);
	return rc ? rc : compare(b->module, a->module);
}

/* Sorts the candidates of each cluster next to each other. */
static int by_cluster(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int rc = compare_class(x->candidate, y->candidate);

	for (unsigned side = 0; side < 2 && !rc; side++)
		rc = compare_function(&x->candidate->side[side], &y->candidate->side[side]);
	return rc ? rc : compare(x->rank, y->rank);
}

static int by_round(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int rc = compare_class(x->candidate, y->candidate);

	if (!rc)
		rc = compare(x->round, y->round);
	return rc ? rc : compare(x->rank, y->rank);
}

static bool same_cluster(const struct explore_candidate *a, const struct explore_candidate *b)
{
	return compare_class(a, b) == 0 && compare_function(&a->side[0], &b->side[0]) == 0 &&
	       compare_function(&a->side[1], &b->side[1]) == 0;
}

/* Returns whether the candidate ranks lower, but only because of a common lock or because both accesses are locked. */
static bool is_ordered(const struct explore_candidate *c)
{
	unsigned reasons = (unsigned)c->common_lock + explore_both_locked(c);

	return reasons && explore_reasons(c) == reasons;
}

/*
 * Returns whether a candidate that is_ordered() is tried as early as one without a reason for a lower rank, because an access
 * is in a module or in a call of explore_config.also.
 */
static bool is_ordered_but_early(const struct explore_candidate *c)
{
	return (c->module || c->other_call) && is_ordered(c);
}

static bool has_no_reason(const struct explore_candidate *c)
{
	return !explore_reasons(c);
}

/*
 * Returns whether an access was made in a call of explore_config.also, which the user has named, and nothing but locks makes
 * the candidate rank lower.
 */
static bool is_asked_for(const struct explore_candidate *c)
{
	return c->other_call && (has_no_reason(c) || is_ordered(c));
}

/* Returns the index of the first candidate, from index `from` on, for which is() returns true; or `count` if there is none. */
static size_t next(const struct explore_candidate *all, size_t count, size_t from, bool (*is)(const struct explore_candidate *))
{
	while (from < count && !is(&all[from]))
		from++;
	return from;
}

/*
 * Copy the candidates to `out` in this order. First come the module candidates at the start of `all` that have no reason for a
 * lower rank. Then the other candidates without a reason alternate with those for which is_ordered_but_early() returns true, so
 * that neither kind waits until all of the other kind were tried. All other candidates come last.
 */
static void alternate(const struct explore_candidate *all, size_t count, struct explore_candidate *out)
{
	size_t n = 0, a = next(all, count, 0, has_no_reason), b = next(all, count, 0, is_ordered_but_early);

	while (a < count || b < count) {
		bool first = a < count && all[a].module && a == n;

		if (a < count) {
			out[n++] = all[a];
			a = next(all, count, a + 1, has_no_reason);
		}
		if (b < count && !first) {
			out[n++] = all[b];
			b = next(all, count, b + 1, is_ordered_but_early);
		}
	}
	for (size_t i = 0; i < count; i++)
		if (!has_no_reason(&all[i]) && !is_ordered_but_early(&all[i]))
			out[n++] = all[i];
}

/*
 * Copy the candidates for which is_asked_for() returns true to the start of `out`, and all other candidates after them. Returns
 * the number of the former.
 */
static size_t part(const struct explore_candidate *all, size_t count, struct explore_candidate *out)
{
	size_t asked = 0, n;

	for (size_t i = 0; i < count; i++)
		if (is_asked_for(&all[i]))
			out[asked++] = all[i];
	n = asked;
	for (size_t i = 0; i < count; i++)
		if (!is_asked_for(&all[i]))
			out[n++] = all[i];
	return asked;
}

int order_by_clusters(struct explore_candidate *all, size_t count)
{
	struct explore_candidate *sorted = calloc(count + 1, sizeof(*sorted)), *parted = calloc(count + 1, sizeof(*parted));
	struct place *places = calloc(count + 1, sizeof(*places));
	int rc = sorted && parted && places ? 0 : -1;
	size_t asked;

	if (rc == 0) {
		for (size_t i = 0; i < count; i++)
			places[i] = (struct place){.candidate = &all[i], .rank = i};
		qsort(places, count, sizeof(*places), by_cluster);
		for (size_t i = 1; i < count; i++)
			if (same_cluster(places[i - 1].candidate, places[i].candidate))
				places[i].round = places[i - 1].round + 1;
		qsort(places, count, sizeof(*places), by_round);
		for (size_t i = 0; i < count; i++)
			sorted[i] = *places[i].candidate;
		asked = part(sorted, count, parted);
		alternate(parted, asked, all);
		alternate(parted + asked, count - asked, all + asked);
	}
	free(sorted);
	free(parted);
	free(places);
	return rc;
}
