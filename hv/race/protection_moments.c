// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the record of which locks protect which data from the lock moments of a run. */
#include "hv/race/protection.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/order.h"
#include "hv/race/count.h"
#include "hv/race/printable.h"
#include "hv/race/protection_index.h"
#include "hv/race/protection_table.h"

struct protection *protection_new(void)
{
	struct protection *p = calloc(1, sizeof(*p));
	struct protection_index *index = p ? calloc(1, sizeof(*index)) : NULL;

	if (!index) {
		free(p);
		return NULL;
	}
	siphash_key_make(&index->key);
	index->objects.key = index->key;
	p->index = index;
	return p;
}

void protection_free(struct protection *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < PROT_TABLES; i++)
		race_index_free(&p->index->of[i]);
	prot_objects_free(&p->index->objects);
	free(p->index->recent);
	free(p->index);
	free(p->functions);
	free(p->locks);
	free(p->accesses);
	free(p->pairs);
	free(p->takes);
	free(p->uses);
	free(p->sections);
	free(p->fates);
	free(p->section_replays);
	free(p);
}

void protection_set_slide(struct protection *p, uint64_t slide)
{
	p->index->slide = slide;
}

bool protection_concurrent(const struct protection *p, uint32_t a, uint32_t b)
{
	return a != PROTECTION_NONE && b != PROTECTION_NONE && protection_find_pair(p, a, b) != PROTECTION_NONE;
}

/* Returns the function's index in functions[], or PROTECTION_NONE for a symbol without a name. */
uint32_t protection_function_of(struct protection *p, const struct guest_symbol *symbol)
{
	char name[SITE_NAME_MAX];

	if (symbol->name[0] == '\0')
		return PROTECTION_NONE;
	site_function(symbol, name);
	return protection_function(p, name);
}

static uint32_t operation_of(struct protection *p, const struct lock_moment *m)
{
	return m->path_count ? protection_function_of(p, &m->path[m->path_count - 1]) : PROTECTION_NONE;
}

static int by_sections(const void *a, const void *b)
{
	const struct section_pair *x = a, *y = b;
	int order = order_u64(x->first, y->first);

	return order ? order : order_u64(x->second, y->second);
}

/* Replace *list, an array of `size` bytes each, by a copy of the `n` entries at `from`. Returns 0 or -1. */
static int replace_list(void **list, const void *from, size_t n, size_t size, struct err *err)
{
	void *copy = malloc((n + 1) * size);

	if (!copy)
		return err_set(err, EXIT_INTERNAL, "out of memory while recording locks");
	if (n)
		memcpy(copy, from, n * size);
	free(*list);
	*list = copy;
	return 0;
}

int protection_set_sections(struct protection *p, const struct section_pair *list, size_t n, struct err *err)
{
	void *sections = p->sections;

	n = n < SECTION_PAIRS_MAX ? n : SECTION_PAIRS_MAX;
	if (replace_list(&sections, list, n, sizeof(*list), err) < 0)
		return -1;
	p->sections = sections;
	p->section_count = (uint32_t)n;
	qsort(p->sections, n, sizeof(*p->sections), by_sections);
	return 0;
}

int protection_set_fates(struct protection *p, const struct section_fate *list, size_t n, struct err *err)
{
	void *fates = p->fates;

	n = n < SECTION_FATES_MAX ? n : SECTION_FATES_MAX;
	if (replace_list(&fates, list, n, sizeof(*list), err) < 0)
		return -1;
	p->fates = fates;
	p->fate_count = (uint32_t)n;
	return 0;
}

struct section_replay *protection_section_replay(struct protection *p, uint64_t first, uint64_t second, uint64_t between)
{
	struct section_replay *list = (struct section_replay *)section_replay_find(p->section_replays, p->section_replay_count,
										   first, second, between);

	if (list || p->section_replay_count == SECTION_REPLAYS_MAX)
		return list;
	list = reallocarray(p->section_replays, p->section_replay_count + 1, sizeof(*list));
	if (!list)
		return NULL;
	p->section_replays = list;
	list += p->section_replay_count++;
	*list = (struct section_replay){.first = first, .second = second, .between = between};
	return list;
}

static void moment_site(const struct protection *p, const struct lock_moment *m, char out[SITE_NAME_MAX])
{
	const struct race_side side = {.kind = RACE_SIDE_CPU, .pc = m->pc, .symbol = m->symbol};

	site_name(&side, p->index->slide, out);
}

/*
 * Returns the number that stands for the event's context in `who` of struct prot_access: the PID of a task, or -1 - CPU for an
 * interrupt, for the idle task and for an unknown task.
 */
static int64_t who_of(const struct lock_moment *m)
{
	bool task = !m->context.known || m->context.kind == GUEST_TASK;

	return task && m->context.pid > 0 ? m->context.pid : -1 - (int64_t)m->cpu;
}

/*
 * Returns the index in locks[] of the event's held lock `i`. A lock that was taken outside of the subject is described by its
 * address alone, because there is no event of its taking.
 */
static uint32_t held_lock(struct protection *p, const struct lock_moment *m, unsigned i)
{
	const struct held_lock *held = &m->locks.held[i];
	struct guest_memory memory;

	if (held->taken_at)
		return protection_lock(p, held->gva, held->kind, NULL);
	memory = m->held_memory[i];
	printable_memory(&memory);
	return protection_lock(p, held->gva, held->kind, &memory);
}

/*
 * Copy the locks that the event's context holds to `a`, sorted by index, so that locksets compare equal regardless of the order
 * of taking.
 */
static void keep_held(struct protection *p, const struct lock_moment *m, struct prot_access *a)
{
	unsigned count = m->locks.count < LOCKSET_MAX ? m->locks.count : LOCKSET_MAX;

	a->held_overflow = m->locks.overflow;
	for (unsigned i = 0; i < count; i++) {
		const struct held_lock *from = &m->locks.held[i];
		struct prot_held held = {held_lock(p, m, i), from->off, from->shared, from->maybe};
		unsigned at = a->held_count;

		/* The table of locks is full. Set held_overflow, because this lock is missing in `held`. */
		if (held.lock == PROTECTION_NONE) {
			a->held_overflow = true;
			continue;
		}
		for (; at > 0 && a->held[at - 1].lock > held.lock; at--)
			a->held[at] = a->held[at - 1];
		a->held[at] = held;
		a->held_count++;
	}
}

static void count_span(struct prot_access *a, uint64_t time_ns, int64_t who)
{
	unsigned i = 0;

	if (a->spans_lost)
		return;
	while (i < a->span_count && a->spans[i].who != who)
		i++;
	if (i == PROTECTION_SPANS_MAX) {
		a->span_count = 0;
		a->spans_lost = true;
		return;
	}
	if (i == a->span_count)
		a->spans[a->span_count++] = (struct prot_span){.who = who, .first_ns = time_ns};
	a->spans[i].last_ns = time_ns;
}

static void count_access(struct prot_access *a, const struct lock_moment *m, int64_t who, bool shared)
{
	if (a->count == 0) {
		a->who = who;
		a->first_ns = m->time_ns;
		a->cpu = (uint16_t)m->cpu;
	}
	a->several_cpus |= a->cpu != m->cpu;
	a->several |= a->who != who;
	a->last_ns = m->time_ns;
	count_span(a, m->time_ns, who);
	a->count = count_sum(a->count, 1);
	a->count_shared = count_sum(a->count_shared, shared);
}

/* Fill in the fields of *a that are the same for all data of the lock moment. One instruction can access several data. */
static void access_of(struct protection *p, const struct lock_moment *m, uint32_t operation, struct prot_access *a)
{
	memset(a, 0, sizeof(*a));
	moment_site(p, m, a->site);
	a->pc = m->pc;
	a->context = m->context.known ? m->context.kind : (uint8_t)GUEST_TASK;
	a->context_known = m->context.known;
	a->irqs_off = m->context.irqs_off;
	a->preempt_off = m->context.known && m->context.preempt_off;
	a->in_rcu = m->context.rcu_known && m->context.rcu_nesting;
	a->rcu_unknown = m->context.known && !m->context.rcu_known;
	keep_held(p, m, a);
	a->function = protection_function_of(p, &m->symbol);
	a->operation = operation;
}

/*
 * Returns the index in locks[] of the lock `held`, under which the access was made, or PROTECTION_NONE if the table of locks
 * was full.
 */
static uint32_t lock_of(const struct protection *p, const struct prot_access *a, const struct held_lock *held)
{
	for (unsigned i = 0; i < a->held_count; i++) {
		const struct prot_lock *lock = &p->locks[a->held[i].lock];

		if (lock->gva == held->gva && lock->kind == held->kind)
			return a->held[i].lock;
	}
	return PROTECTION_NONE;
}

/*
 * Count the access once for each critical section in which it was made. Sections that began outside of the subject are not
 * recorded.
 */
static void count_uses(struct protection *p, const struct lock_moment *m, uint32_t access, const struct lock_datum *datum)
{
	for (unsigned i = 0; i < m->locks.count && i < LOCKSET_MAX; i++) {
		const struct held_lock *held = &m->locks.held[i];
		struct prot_use use;
		uint32_t at;

		if (!held->taken_at || held->maybe)
			continue;
		memset(&use, 0, sizeof(use));
		use.access = access;
		use.lock = lock_of(p, &p->accesses[access], held);
		use.taken_at = held->taken_at;
		use.decides = datum->decides;
		use.steps = datum->steps;
		use.same_results = datum->same_results;
		use.stores_back = datum->stores_back;
		use.bits = datum->bits;
		use.check = datum->check;
		use.test = datum->test;
		at = use.lock == PROTECTION_NONE ? PROTECTION_NONE : protection_use(p, &use);
		if (at != PROTECTION_NONE)
			p->uses[at].count = count_sum(p->uses[at].count, 1);
	}
}

static void take_datum(struct protection *p, const struct lock_moment *m, const struct lock_datum *d, struct prot_access *a)
{
	int64_t who = who_of(m);
	bool shared;
	uint32_t at;
	enum prot_objects_rc rc = prot_objects_touch(&p->index->objects, d, who, &a->life, &shared);

	if (rc == PROT_OBJECTS_FULL)
		p->lost++;
	p->index->no_memory |= rc == PROT_OBJECTS_NO_MEMORY;
	if (rc != PROT_OBJECTS_OK)
		return;
	a->gva = d->gva;
	a->size = d->size;
	a->rw = d->rw;
	a->locked = d->locked;
	a->base = d->base;
	a->memory = d->memory;
	printable_memory(&a->memory);
	at = protection_access(p, a);
	if (at == PROTECTION_NONE)
		return;
	count_access(&p->accesses[at], m, who, shared);
	count_uses(p, m, at, d);
}

static void take_access(struct protection *p, const struct lock_moment *m, uint32_t operation)
{
	struct prot_access a;

	access_of(p, m, operation, &a);
	for (unsigned i = 0; i < m->data_count && i < INSN_MAX_MEM; i++)
		take_datum(p, m, &m->data[i], &a);
}

static void take_lock(struct protection *p, const struct lock_moment *m, uint32_t operation)
{
	struct guest_memory memory = m->lock_memory;
	struct prot_take take;
	bool irqs_off;
	uint32_t at;

	printable_memory(&memory);
	memset(&take, 0, sizeof(take));
	take.lock = protection_lock(p, m->lock.gva, m->lock.kind, &memory);
	if (take.lock == PROTECTION_NONE)
		return;
	moment_site(p, m, take.site);
	take.pc = m->pc;
	take.base = m->lock_base;
	take.function = protection_function_of(p, &m->symbol);
	take.operation = operation;
	take.context = m->context.known ? m->context.kind : (uint8_t)GUEST_TASK;
	irqs_off = m->context.irqs_off || m->lock.off & LOCK_NO_IRQ || take.context >= GUEST_HARDIRQ;
	take.irqs_off = irqs_off || m->lock.off & LOCK_NO_LINE;
	/*
	 * If preemption is off, record that softirqs are off, too. Preemption can be off because softirqs are disabled or for
	 * another reason, and the event does not say which.
	 */
	take.softirqs_off = irqs_off || m->lock.off & LOCK_NO_SOFTIRQ || take.context != GUEST_TASK ||
			    (m->context.known && m->context.preempt_off);
	take.shared = m->lock.shared;
	take.tried = m->lock.maybe;
	at = protection_take_entry(p, &take);
	if (at != PROTECTION_NONE)
		p->takes[at].count = count_sum(p->takes[at].count, 1);
}

static void end_object(struct protection *p, const struct lock_moment *m)
{
	struct prot_objects *objects = &p->index->objects;
	enum prot_objects_rc rc = m->reused ? prot_objects_reuse(objects, m->lock.gva) : prot_objects_end(objects, m->lock.gva);

	if (rc == PROT_OBJECTS_FULL)
		p->lost++;
	p->index->no_memory |= rc == PROT_OBJECTS_NO_MEMORY;
}

/* Returns the operation of lock moment `number`, or PROTECTION_NONE if it is unknown or too old. */
static uint32_t recent_operation(const struct protection_index *ix, uint64_t number)
{
	const struct recent_moment *r = &ix->recent[number % RECENT_MOMENTS];

	return r->number == number ? r->operation : PROTECTION_NONE;
}

/*
 * For each operation that another context was in at the time of this event, count one more pair of that operation and this
 * event's operation.
 */
static void take_pairs(struct protection *p, const struct lock_moment *m, uint32_t operation)
{
	for (unsigned i = 0; i < m->during_count && i < LOCK_DURING_MAX; i++) {
		uint32_t other = m->during[i] ? recent_operation(p->index, m->during[i]) : PROTECTION_NONE;
		uint32_t at;

		if (other == PROTECTION_NONE || operation == PROTECTION_NONE)
			continue;
		at = protection_pair(p, operation, other);
		if (at != PROTECTION_NONE)
			p->pairs[at].count = count_sum(p->pairs[at].count, 1);
	}
}

int protection_take(struct protection *p, const struct lock_moment *m, struct err *err)
{
	struct protection_index *ix = p->index;
	uint32_t operation;

	if (!ix->recent)
		ix->recent = calloc(RECENT_MOMENTS, sizeof(*ix->recent));
	if (!ix->recent)
		return err_set(err, EXIT_INTERNAL, "out of memory while recording locks");
	operation = operation_of(p, m);
	take_pairs(p, m, operation);
	ix->recent[m->number % RECENT_MOMENTS] = (struct recent_moment){m->number, operation};
	p->moments[m->kind]++;
	if (m->kind == LOCK_MOMENT_ACCESS)
		take_access(p, m, operation);
	else if (m->kind == LOCK_MOMENT_TAKE)
		take_lock(p, m, operation);
	else if (m->kind == LOCK_MOMENT_FREE)
		end_object(p, m);
	return ix->no_memory ? err_set(err, EXIT_INTERNAL, "out of memory while recording locks") : 0;
}
