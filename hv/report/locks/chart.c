// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the chart of which lock protects which datum. Accesses are sorted by the names of their data; all accesses with one
 * name form one datum of the chart.
 */
#include "hv/report/locks/chart.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/order.h"
#include "hv/report/locks/suspicion_key.h"
#include "symbols/insn/insn.h"

/* Maximum number of locks that are compared for one datum. It limits the time that a hostile record can take. */
#define LOCKS_COMPARED 32

/* An access in one of the records. */
struct ref {
	const struct protection *p;
	const struct prot_access *access;
};

struct making {
	struct lock_chart *chart;
	const struct lock_record *records;
	size_t n;
	bool (*wanted)(const void *ctx, const char *function);
	const void *ctx;
	struct ref *refs;
	size_t ref_count;
};

static const char *function_name(const struct protection *p, uint32_t function)
{
	return function < p->function_count ? p->functions[function].name : "an unknown function";
}

static bool is_wanted(const struct making *m, const struct protection *p, uint32_t function)
{
	return !m->wanted || m->wanted(m->ctx, function_name(p, function));
}

static int by_name(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;
	int order = strcmp(x->access->name, y->access->name);

	/* Identify a datum without a name by its address. */
	if (!order && !x->access->name[0])
		order = order_u64(x->access->gva, y->access->gva);
	return order;
}

static int gather(struct making *m)
{
	size_t most = 0;

	for (size_t i = 0; i < m->n; i++)
		most += m->records[i].protection ? m->records[i].protection->access_count : 0;
	m->refs = calloc(most + 1, sizeof(*m->refs));
	m->chart->data = calloc(most + 1, sizeof(*m->chart->data));
	if (!m->refs || !m->chart->data)
		return -1;
	for (size_t i = 0; i < m->n; i++) {
		const struct protection *p = m->records[i].protection;

		for (uint32_t k = 0; p && k < p->access_count; k++) {
			if (is_wanted(m, p, p->accesses[k].function))
				m->refs[m->ref_count++] = (struct ref){p, &p->accesses[k]};
		}
	}
	qsort(m->refs, m->ref_count, sizeof(*m->refs), by_name);
	return 0;
}

/* ---- one datum ---- */

static bool covered(const struct ref *r, const char *lock)
{
	for (unsigned i = 0; i < r->access->held_count; i++) {
		const struct prot_held *h = &r->access->held[i];

		if (suspicion_covers(h, r->access) && !strcmp(r->p->locks[h->lock].name, lock))
			return true;
	}
	return false;
}

/* Number of accesses, and of writes, at which a lock was held. */
struct held {
	uint64_t all, writes;
};

static struct held held_at(const struct ref *refs, size_t n, const char *lock)
{
	struct held held = {0};

	for (size_t i = 0; i < n; i++) {
		if (!covered(&refs[i], lock))
			continue;
		held.all += refs[i].access->count_shared;
		if (refs[i].access->rw & INSN_WRITE)
			held.writes += refs[i].access->count_shared;
	}
	return held;
}

static bool is_listed(const char *const *list, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++) {
		if (!strcmp(list[i], name))
			return true;
	}
	return false;
}

/*
 * Choose the datum's lock: the one that was held at the most writes and, among locks with equally many writes, at the most
 * accesses. Writes decide, since a reader may hold a lock for another reason.
 */
static void choose_lock(struct chart_datum *d, const struct ref *refs, size_t n)
{
	const char *seen[LOCKS_COMPARED];
	struct held most = {0};
	unsigned count = 0;

	for (size_t i = 0; i < n && count < LOCKS_COMPARED; i++) {
		for (unsigned k = 0; k < refs[i].access->held_count && count < LOCKS_COMPARED; k++) {
			const char *lock = refs[i].p->locks[refs[i].access->held[k].lock].name;
			struct held held;

			if (!refs[i].access->count_shared || is_listed(seen, count, lock) ||
			    refs[i].p->locks[refs[i].access->held[k].lock].kind == LOCK_CALLBACK)
				continue;
			seen[count++] = lock;
			held = held_at(refs, n, lock);
			if (held.writes < most.writes || (held.writes == most.writes && held.all <= most.all))
				continue;
			most = held;
			d->held = held.all;
			snprintf(d->lock, sizeof(d->lock), "%s", lock);
		}
	}
}

static int by_function(const void *a, const void *b)
{
	return strcmp(((const struct chart_missing *)a)->function, ((const struct chart_missing *)b)->function);
}

static int by_count(const void *a, const void *b)
{
	const struct chart_missing *x = a, *y = b;
	int order = order_u64(y->count, x->count);

	return order ? order : by_function(a, b);
}

static void join_functions(struct chart_datum *d)
{
	size_t kept = 0;

	qsort(d->missing, d->missing_count, sizeof(*d->missing), by_function);
	for (size_t i = 0; i < d->missing_count; i++) {
		if (kept && !strcmp(d->missing[kept - 1].function, d->missing[i].function))
			d->missing[kept - 1].count += d->missing[i].count;
		else
			d->missing[kept++] = d->missing[i];
	}
	d->missing_count = kept;
	qsort(d->missing, d->missing_count, sizeof(*d->missing), by_count);
}

static int find_missing(struct chart_datum *d, const struct ref *refs, size_t n)
{
	d->missing = calloc(n, sizeof(*d->missing));
	if (!d->missing)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct chart_missing *m = &d->missing[d->missing_count];

		if (!refs[i].access->count_shared || covered(&refs[i], d->lock))
			continue;
		snprintf(m->function, sizeof(m->function), "%s", function_name(refs[i].p, refs[i].access->function));
		m->count = refs[i].access->count_shared;
		d->missing_count++;
	}
	join_functions(d);
	return 0;
}

static void name_datum(struct chart_datum *d, const struct prot_access *a)
{
	if (a->name[0])
		snprintf(d->name, sizeof(d->name), "%s", a->name);
	else
		snprintf(d->name, sizeof(d->name), "0x%" PRIx64, a->gva);
	d->owner_len = chart_owner_len(d->name);
}

static int chart_datum(struct lock_chart *chart, const struct ref *refs, size_t n)
{
	struct chart_datum *d = &chart->data[chart->count++];

	name_datum(d, refs[0].access);
	choose_lock(d, refs, n);
	for (size_t i = 0; i < n; i++) {
		const struct prot_access *a = refs[i].access;

		d->total += a->count_shared;
		d->unshared += a->count - a->count_shared;
		if (a->rw & INSN_WRITE)
			d->writes += a->count_shared;
		else if (a->in_rcu && !covered(&refs[i], d->lock))
			d->rcu += a->count_shared;
	}
	return d->lock[0] ? find_missing(d, refs, n) : 0;
}

/* Returns the offset at the end of a name such as "kmalloc-64+0x8", or 0 if the name has no offset. */
static uint64_t offset_of(const struct chart_datum *d)
{
	const char *member = d->name + d->owner_len;

	return strncmp(member, "+0x", 3) ? 0 : strtoull(member + 3, NULL, 16);
}

static int by_owner(const void *a, const void *b)
{
	const struct chart_datum *x = a, *y = b;
	size_t len = x->owner_len < y->owner_len ? x->owner_len : y->owner_len;
	int order = strncmp(x->name, y->name, len);

	if (!order)
		order = order_u64(x->owner_len, y->owner_len);
	if (!order)
		order = order_u64(offset_of(x), offset_of(y));
	return order ? order : strcmp(x->name, y->name);
}

static int chart_data(struct making *m)
{
	for (size_t from = 0, to = 0; from < m->ref_count; from = to) {
		while (to < m->ref_count && by_name(&m->refs[from], &m->refs[to]) == 0)
			to++;
		if (chart_datum(m->chart, &m->refs[from], to - from))
			return -1;
	}
	qsort(m->chart->data, m->chart->count, sizeof(*m->chart->data), by_owner);
	return 0;
}

/* ---- suspicions ---- */

static void side_of(const struct protection *p, const struct suspicion *s, unsigned which, const char **site,
		    uint32_t *function)
{
	if (suspicion_of_accesses(s)) {
		*site = p->accesses[s->side[which]].site;
		*function = p->accesses[s->side[which]].function;
	} else {
		*site = p->takes[s->side[which]].site;
		*function = p->takes[s->side[which]].function;
	}
}

void chart_suspicion_name(const struct protection *p, const struct suspicion *s, struct chart_suspicion *out)
{
	uint32_t function;

	*out = (struct chart_suspicion){.suspicion = *s};
	for (unsigned i = 0; i < 2; i++) {
		const char *site;

		side_of(p, s, i, &site, &function);
		snprintf(out->site[i], sizeof(out->site[i]), "%s", site);
	}
	if (s->kind == SUSPICION_ATOMICITY)
		snprintf(out->between, sizeof(out->between), "%s", p->accesses[s->between].site);
	snprintf(out->lock, sizeof(out->lock), "%s", p->locks[s->lock].name);
	if (s->kind == SUSPICION_ATOMICITY && s->second_lock != s->lock)
		snprintf(out->second_lock, sizeof(out->second_lock), "%s", p->locks[s->second_lock].name);
	if (s->kind == SUSPICION_ATOMICITY && s->caller)
		snprintf(out->caller, sizeof(out->caller), "%s", p->functions[s->caller - 1].name);
	snprintf(out->datum, sizeof(out->datum), "%s",
		 suspicion_of_accesses(s) ? p->accesses[s->side[0]].name : p->locks[s->lock].name);
}

const char *chart_step_site(const struct chart_suspicion *c, unsigned step)
{
	return step == 1 ? c->between : c->site[step / 2];
}

static void add_suspicion(struct making *m, const struct protection *p, const struct suspicion *s)
{
	struct chart_suspicion *c = &m->chart->suspicions[m->chart->suspicion_count];
	bool wanted = false;

	for (unsigned i = 0; i < 2; i++) {
		const char *site;
		uint32_t function;

		side_of(p, s, i, &site, &function);
		wanted |= is_wanted(m, p, function);
	}
	chart_suspicion_name(p, s, c);
	suspicion_identity(s->kind, c->site[0], c->site[1], c->lock, c->datum, c->identity);
	m->chart->suspicion_count += wanted;
}

/*
 * Returns the rank of a state of confirmation. Of several suspicions with the same id and kind, the chart keeps the one of the
 * highest rank. A race that was seen ranks highest, and a confirmation that was given up ranks next.
 */
static int confirm_worth(enum confirm_state confirm)
{
	static const int worth[] = {[CONFIRM_NONE] = 0, [CONFIRM_OPEN] = 1, [CONFIRM_GIVEN_UP] = 2, [CONFIRM_SEEN] = 3};

	return worth[confirm];
}

static int by_id(const void *a, const void *b)
{
	const struct suspicion *x = &((const struct chart_suspicion *)a)->suspicion;
	const struct suspicion *y = &((const struct chart_suspicion *)b)->suspicion;
	int order = strcmp(x->id, y->id);

	if (!order)
		order = order_u64(x->kind, y->kind);
	if (!order)
		order = confirm_worth(y->confirm) - confirm_worth(x->confirm);
	return order ? order : (y->rank > x->rank) - (y->rank < x->rank);
}

static int by_rank(const void *a, const void *b)
{
	const struct suspicion *x = &((const struct chart_suspicion *)a)->suspicion;
	const struct suspicion *y = &((const struct chart_suspicion *)b)->suspicion;
	int order = (y->rank > x->rank) - (y->rank < x->rank);

	return order ? order : by_id(a, b);
}

static int by_identity(const void *a, const void *b)
{
	const struct chart_suspicion *x = a, *y = b;
	int order = strcmp(x->identity, y->identity);

	for (unsigned i = 0; i < 2 && !order; i++)
		order = order_u64(site_offset(x->site[i]), site_offset(y->site[i]));
	return order ? order : by_id(a, b);
}

/* Number the suspicions that share an identity, from 1. */
static void number_suspicions(struct chart_suspicion *list, size_t count)
{
	qsort(list, count, sizeof(*list), by_identity);
	for (size_t i = 0; i < count; i++)
		list[i].nth = i && strcmp(list[i - 1].identity, list[i].identity) == 0 ? list[i - 1].nth + 1 : 1;
}

static void join_suspicions(struct lock_chart *chart)
{
	struct chart_suspicion *list = chart->suspicions;
	size_t kept = 0;

	qsort(list, chart->suspicion_count, sizeof(*list), by_id);
	for (size_t i = 0; i < chart->suspicion_count; i++) {
		if (kept && !strcmp(list[kept - 1].suspicion.id, list[i].suspicion.id) &&
		    list[kept - 1].suspicion.kind == list[i].suspicion.kind)
			continue;
		list[kept++] = list[i];
	}
	chart->suspicion_count = kept;
	number_suspicions(list, kept);
	qsort(list, kept, sizeof(*list), by_rank);
}

static void add_record(struct making *m, const struct lock_record *record)
{
	const struct suspicions *s = &record->suspicions;

	for (size_t i = 0; i < s->count; i++)
		add_suspicion(m, record->protection, &s->list[i]);
	for (unsigned i = 0; i < PROTECT_LEFT_OUT; i++)
		m->chart->left_out[i] += s->left_out[i];
	m->chart->lost += s->lost + record->protection->lost;
}

static int chart_suspicions(struct making *m)
{
	struct lock_chart *chart = m->chart;
	size_t most = 0;

	for (size_t i = 0; i < m->n; i++)
		most += m->records[i].suspicions.count;
	chart->suspicions = calloc(most + 1, sizeof(*chart->suspicions));
	if (!chart->suspicions)
		return -1;
	for (size_t i = 0; i < m->n; i++) {
		if (m->records[i].protection)
			add_record(m, &m->records[i]);
	}
	join_suspicions(chart);
	return 0;
}

static int no_memory(struct err *err)
{
	return err_set(err, EXIT_INTERNAL, "out of memory while combining lock records");
}

int lock_chart_make(struct lock_chart *chart, const struct lock_record *records, size_t n,
		    bool (*wanted)(const void *ctx, const char *function), const void *ctx, struct err *err)
{
	struct making m = {.chart = chart, .records = records, .n = n, .wanted = wanted, .ctx = ctx};
	int ret;

	*chart = (struct lock_chart){0};
	ret = gather(&m) || chart_data(&m) || chart_suspicions(&m) || together_find(&chart->together, records, n, wanted, ctx)
		      ? no_memory(err)
		      : 0;
	free(m.refs);
	return ret;
}

int lock_chart_suspicions(struct lock_chart *chart, const struct lock_record *records, size_t n, struct err *err)
{
	struct making m = {.chart = chart, .records = records, .n = n};

	*chart = (struct lock_chart){0};
	return chart_suspicions(&m) ? no_memory(err) : 0;
}

void lock_chart_fini(struct lock_chart *chart)
{
	for (size_t i = 0; i < chart->count; i++)
		free(chart->data[i].missing);
	free(chart->data);
	together_list_fini(&chart->together);
	free(chart->suspicions);
	*chart = (struct lock_chart){0};
}

size_t lock_chart_atomicities(const struct lock_chart *chart)
{
	size_t n = 0;

	for (size_t i = 0; i < chart->suspicion_count; i++)
		n += chart->suspicions[i].suspicion.kind == SUSPICION_ATOMICITY;
	return n;
}
