// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Infers which members belong together from how often critical sections change them together (MUVI: Lu et al., SOSP'07, section
 * 3). MUVI mines source code; here, the sampled writes of each section of the code are compared.
 */
#include "hv/report/locks/together.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/base/order.h"
#include "symbols/insn/insn.h"

/*
 * Maximum number of members of one owner (a variable, struct or cache) under one lock. An owner with more members, such as an
 * array, is skipped.
 */
#define MEMBERS_MAX 64u
/*
 * The least number of functions that change both members in one section, for a pair to be kept. One function alone may do so by
 * chance.
 */
#define FUNCTIONS_LEAST 2u
/*
 * A function without a section that changes both members counts as an exception only if at least this number of its writes of
 * the two members were sampled. With fewer samples, a section's write of the other member may have been missed.
 */
#define WRITES_LEAST 8u
/* Maximum number of pairs of members that are kept. */
#define TOGETHER_MAX 256u

/* The sampled writes of one member in one section. The strings belong to the record. */
struct change {
	const char *lock, *datum, *function;
	size_t record;
	uint64_t taken_at; /* the call that began the section */
	uint64_t count;
};

struct gathering {
	struct together_list *out;
	struct change *list;
	size_t count;
};

static int by_owner(const struct change *x, const struct change *y)
{
	size_t len = chart_owner_len(x->datum), other = chart_owner_len(y->datum);
	int order = strcmp(x->lock, y->lock);

	if (!order)
		order = strncmp(x->datum, y->datum, len < other ? len : other);
	return order ? order : order_u64(len, other);
}

static int by_section(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	int order = by_owner(x, y);

	if (!order)
		order = strcmp(x->function, y->function);
	if (!order)
		order = order_u64(x->record, y->record);
	if (!order)
		order = order_u64(x->taken_at, y->taken_at);
	return order ? order : strcmp(x->datum, y->datum);
}

/* Returns whether `use` is a write of a shared, named datum during which the lock kept all other contexts out. */
static bool counts(const struct protection *p, const struct prot_use *use)
{
	const struct prot_access *a = &p->accesses[use->access];

	if (!(a->rw & INSN_WRITE) || !a->count_shared || !a->name[0] || a->function >= p->function_count ||
	    !p->locks[use->lock].name[0])
		return false;
	for (unsigned i = 0; i < a->held_count; i++) {
		if (a->held[i].lock == use->lock)
			return suspicion_covers(&a->held[i], a);
	}
	return false;
}

/* ---- the members of one owner under one lock ---- */

struct members {
	const char *name[MEMBERS_MAX];
	unsigned count;
};

/* Returns the index of the member, which is added if it is new, or MEMBERS_MAX if there are too many members. */
static unsigned member_of(struct members *m, const char *name)
{
	unsigned i = 0;

	while (i < m->count && strcmp(m->name[i], name) != 0)
		i++;
	if (i == m->count && i < MEMBERS_MAX)
		m->name[m->count++] = name;
	return i;
}

static bool same_section(const struct change *x, const struct change *y)
{
	return x->record == y->record && x->taken_at == y->taken_at && strcmp(x->function, y->function) == 0;
}

/* What one function does to a pair of members. */
struct doing {
	bool both;	    /* one section of the function changes both members */
	bool changes[2];    /* changes[i]: any section of the function changes member i */
	uint64_t writes[2]; /* sampled writes of each member */
};

/* Find out what the function of list[*at] does to the two members. Moves *at past the function's changes. */
static struct doing function_does(const struct change *list, size_t n, size_t *at, const char *const names[2])
{
	const struct change *section = &list[*at], *first = section;
	struct doing d = {0};
	bool here[2] = {false};

	for (; *at < n && strcmp(list[*at].function, first->function) == 0; ++*at) {
		const struct change *c = &list[*at];

		if (!same_section(section, c)) {
			section = c;
			here[0] = here[1] = false;
		}
		for (unsigned i = 0; i < 2; i++) {
			if (strcmp(c->datum, names[i]) != 0)
				continue;
			here[i] = d.changes[i] = true;
			d.writes[i] += c->count;
		}
		d.both |= here[0] && here[1];
	}
	return d;
}

static int add_function(struct chart_missing **list, size_t *n, const char *function, uint64_t count)
{
	struct chart_missing *missing = list_grow(list, n, sizeof(*missing), NULL);

	if (!missing)
		return -1;
	missing->count = count;
	snprintf(missing->function, sizeof(missing->function), "%s", function);
	return 0;
}

static int add_odd(struct chart_together *t, const char *function, const struct doing *d)
{
	struct chart_odd *odd = list_grow(&t->odd, &t->odd_count, sizeof(*odd), NULL);

	if (!odd)
		return -1;
	*odd = (struct chart_odd){.changes = {d->changes[0], d->changes[1]}, .count = d->writes[0] + d->writes[1]};
	snprintf(odd->function, sizeof(odd->function), "%s", function);
	return 0;
}

/* Collect which functions change both members in one section, and which do not. Returns 0, or -1 if memory runs out. */
static int judge_pair(const struct change *list, size_t n, const char *const names[2], struct chart_together *t)
{
	for (size_t at = 0; at < n;) {
		const char *function = list[at].function;
		struct doing d = function_does(list, n, &at, names);
		int rc = 0;

		if (d.both)
			rc = add_function(&t->functions, &t->function_count, function, d.writes[0] + d.writes[1]);
		else if (d.writes[0] + d.writes[1] >= WRITES_LEAST)
			rc = add_odd(t, function, &d);
		if (rc)
			return -1;
	}
	return 0;
}

static void together_fini(struct chart_together *t)
{
	free(t->functions);
	free(t->odd);
}

/*
 * Returns whether the functions in t->odd look like exceptions: there is at least one of them, and at least twice as many
 * functions change both members in one section.
 */
static bool is_told(const struct chart_together *t)
{
	return t->odd_count && t->function_count >= FUNCTIONS_LEAST && 2 * t->odd_count <= t->function_count;
}

static int try_pair(struct together_list *out, const struct change *list, size_t n, const char *const names[2])
{
	struct chart_together t = {0};

	if (out->count == TOGETHER_MAX)
		return 0;
	if (judge_pair(list, n, names, &t)) {
		together_fini(&t);
		return -1;
	}
	if (!is_told(&t)) {
		together_fini(&t);
		return 0;
	}
	for (unsigned i = 0; i < 2; i++)
		snprintf(t.data[i], sizeof(t.data[i]), "%s", names[i]);
	snprintf(t.lock, sizeof(t.lock), "%s", list[0].lock);
	out->list[out->count++] = t;
	return 0;
}

static int judge_owner(struct together_list *out, const struct change *list, size_t n)
{
	struct members m = {0};

	for (size_t i = 0; i < n; i++) {
		if (member_of(&m, list[i].datum) == MEMBERS_MAX)
			return 0;
	}
	for (unsigned i = 0; i < m.count; i++) {
		for (unsigned k = i + 1; k < m.count; k++) {
			const char *const names[2] = {m.name[i], m.name[k]};

			if (try_pair(out, list, n, names))
				return -1;
		}
	}
	return 0;
}

static int gather(struct gathering *g, const struct lock_record *records, size_t n,
		  bool (*wanted)(const void *ctx, const char *function), const void *ctx)
{
	size_t most = 0;

	for (size_t i = 0; i < n; i++)
		most += records[i].protection ? records[i].protection->use_count : 0;
	g->list = calloc(most + 1, sizeof(*g->list));
	g->out->list = calloc(TOGETHER_MAX, sizeof(*g->out->list));
	if (!g->list || !g->out->list)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct protection *p = records[i].protection;

		for (uint32_t k = 0; p && k < p->use_count; k++) {
			const struct prot_use *use = &p->uses[k];
			const struct prot_access *a = &p->accesses[use->access];

			if (!counts(p, use) || (wanted && !wanted(ctx, p->functions[a->function].name)))
				continue;
			g->list[g->count++] = (struct change){.lock = p->locks[use->lock].name,
							      .datum = a->name,
							      .function = p->functions[a->function].name,
							      .record = i,
							      .taken_at = use->taken_at,
							      .count = use->count};
		}
	}
	qsort(g->list, g->count, sizeof(*g->list), by_section);
	return 0;
}

int together_find(struct together_list *out, const struct lock_record *records, size_t n,
		  bool (*wanted)(const void *ctx, const char *function), const void *ctx)
{
	struct gathering g = {.out = out};
	int rc = gather(&g, records, n, wanted, ctx);

	for (size_t from = 0, to = 0; rc == 0 && from < g.count; from = to) {
		while (to < g.count && by_owner(&g.list[from], &g.list[to]) == 0)
			to++;
		rc = judge_owner(out, g.list + from, to - from);
	}
	free(g.list);
	return rc;
}

/* Append what the function changes. Returns the new length. */
static int put_odd(const struct chart_together *t, size_t which, char out[CHART_TOGETHER_TEXT_MAX], int len)
{
	const struct chart_odd *odd = &t->odd[which];
	const bool halves = odd->changes[0] && odd->changes[1];

	return len + snprintf(out + len, (size_t)(CHART_TOGETHER_TEXT_MAX - len),
			      "%snot in %.60s(), which changes %s%s (%" PRIu64 " writes)", which ? ", and " : "; ",
			      chart_function(odd->function), halves ? "them in two sections" : "only ",
			      halves ? "" : t->data[odd->changes[1]], odd->count);
}

void together_list_fini(struct together_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		together_fini(&list->list[i]);
	free(list->list);
	*list = (struct together_list){0};
}

void chart_together_text(const struct chart_together *t, char out[CHART_TOGETHER_TEXT_MAX])
{
	int len = snprintf(out, CHART_TOGETHER_TEXT_MAX, "%s and %s change together under %s in %zu functions, such as %.60s()",
			   t->data[0], t->data[1], t->lock, t->function_count, chart_function(t->functions[0].function));

	for (size_t i = 0; i < t->odd_count && len < CHART_TOGETHER_TEXT_MAX; i++)
		len = put_odd(t, i, out, len);
}
