// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds and adds entries in the tables of the record of which locks protect which data. */
#include "hv/race/protection_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/race/protection_index.h"

#define FIRST_ROOM 64u

/* One table of the record. */
struct table {
	void **list;
	uint32_t *count;
	size_t size; /* of an entry, in bytes */
	uint32_t most;
};

static struct table table_of(struct protection *p, enum prot_table which)
{
	switch (which) {
	case FUNCTIONS:
		return (struct table){(void **)&p->functions, &p->function_count, sizeof(*p->functions),
				      PROTECTION_FUNCTIONS_MAX};
	case LOCKS:
		return (struct table){(void **)&p->locks, &p->lock_count, sizeof(*p->locks), PROTECTION_LOCKS_MAX};
	case ACCESSES:
		return (struct table){(void **)&p->accesses, &p->access_count, sizeof(*p->accesses), PROTECTION_ACCESSES_MAX};
	case PAIRS:
		return (struct table){(void **)&p->pairs, &p->pair_count, sizeof(*p->pairs), PROTECTION_PAIRS_MAX};
	case USES:
		return (struct table){(void **)&p->uses, &p->use_count, sizeof(*p->uses), PROTECTION_USES_MAX};
	default:
		return (struct table){(void **)&p->takes, &p->take_count, sizeof(*p->takes), PROTECTION_TAKES_MAX};
	}
}

/* Make room for one more entry in table `t`, whose number is `which`. Returns 0, or -1 if memory runs out. */
static int make_room(struct protection *p, enum prot_table which, const struct table *t)
{
	struct protection_index *ix = p->index;
	uint32_t room = ix->room[which] ? 2 * ix->room[which] : FIRST_ROOM;
	void *list;

	if (race_index_make_room(&ix->of[which]) < 0)
		return -1;
	if (*t->count < ix->room[which])
		return 0;
	list = realloc(*t->list, room * t->size);
	if (!list)
		return -1;
	*t->list = list;
	ix->room[which] = room;
	return 0;
}

/* Argument of the comparison functions. */
struct wanted {
	const struct protection *p;
	const void *entry;
};

/* Find the entry for which is() returns true, or add a copy of wanted->entry. */
static uint32_t have(struct protection *p, enum prot_table which, uint64_t hash, bool (*is)(void *ctx, size_t position),
		     struct wanted *wanted)
{
	size_t at = race_index_find(&p->index->of[which], hash, is, wanted);
	struct table t = table_of(p, which);

	if (at != RACE_INDEX_NONE)
		return (uint32_t)at;
	if (*t.count == t.most) {
		p->lost++;
		return PROTECTION_NONE;
	}
	if (make_room(p, which, &t) < 0) {
		p->index->no_memory = true;
		return PROTECTION_NONE;
	}
	memcpy((char *)*t.list + *t.count * t.size, wanted->entry, t.size);
	race_index_add(&p->index->of[which], hash);
	return (*t.count)++;
}

static bool is_function(void *ctx, size_t position)
{
	const struct wanted *w = ctx;

	return strcmp(w->p->functions[position].name, ((const struct prot_function *)w->entry)->name) == 0;
}

uint32_t protection_function(struct protection *p, const char *name)
{
	struct prot_function function;
	struct wanted w = {p, &function};

	memset(&function, 0, sizeof(function));
	snprintf(function.name, sizeof(function.name), "%s", name);
	return have(p, FUNCTIONS, siphash(&p->index->key, function.name, strlen(function.name)), is_function, &w);
}

static bool is_lock(void *ctx, size_t position)
{
	const struct wanted *w = ctx;
	const struct prot_lock *lock = &w->p->locks[position], *entry = w->entry;

	return lock->gva == entry->gva && lock->kind == entry->kind;
}

/* Returns true if the description of a lock's memory tells a reader which lock it is. */
static bool names_it(const struct guest_memory *m)
{
	return m->kind != GUEST_MEMORY_UNKNOWN && (m->symbol.name[0] || m->object);
}

uint32_t protection_lock(struct protection *p, uint64_t gva, uint8_t kind, const struct guest_memory *memory)
{
	const uint64_t words[2] = {gva, kind};
	struct prot_lock lock = {.gva = gva, .kind = kind, .memory = {.cpu = -1}};
	struct wanted w = {p, &lock};
	uint32_t at = have(p, LOCKS, siphash(&p->index->key, words, sizeof(words)), is_lock, &w);
	struct prot_lock *found = at == PROTECTION_NONE ? NULL : &p->locks[at];

	if (found && memory &&
	    (found->memory.kind == GUEST_MEMORY_UNKNOWN || (!names_it(&found->memory) && names_it(memory)))) {
		found->memory = *memory;
		found->name[0] = '\0';
	}
	return at;
}

static bool same_held(const struct prot_access *a, const struct prot_access *b)
{
	if (a->held_count != b->held_count || a->held_overflow != b->held_overflow)
		return false;
	for (unsigned i = 0; i < a->held_count; i++) {
		const struct prot_held *x = &a->held[i], *y = &b->held[i];

		if (x->lock != y->lock || x->off != y->off || x->shared != y->shared || x->maybe != y->maybe)
			return false;
	}
	return true;
}

static bool same_context(const struct prot_access *a, const struct prot_access *b)
{
	return a->context == b->context && a->context_known == b->context_known && a->irqs_off == b->irqs_off &&
	       a->preempt_off == b->preempt_off && a->in_rcu == b->in_rcu;
}

static bool is_access(void *ctx, size_t position)
{
	const struct wanted *w = ctx;
	const struct prot_access *a = &w->p->accesses[position], *b = w->entry;

	return a->pc == b->pc && a->gva == b->gva && a->size == b->size && a->life == b->life && a->rw == b->rw &&
	       a->locked == b->locked && a->function == b->function && a->operation == b->operation && same_context(a, b) &&
	       same_held(a, b) && strcmp(a->site, b->site) == 0;
}

uint32_t protection_access(struct protection *p, const struct prot_access *access)
{
	/* Hash only the fields that differ most between accesses. is_access() compares all fields. */
	const uint64_t words[5] = {access->pc, access->gva, access->life, access->operation,
				   access->held_count ? access->held[0].lock : UINT64_MAX};
	struct wanted w = {p, access};

	return have(p, ACCESSES, siphash(&p->index->key, words, sizeof(words)), is_access, &w);
}

static struct prot_pair ordered(uint32_t a, uint32_t b)
{
	return (struct prot_pair){.a = a < b ? a : b, .b = a < b ? b : a};
}

static uint64_t pair_hash(const struct protection *p, const struct prot_pair *pair)
{
	const uint32_t words[2] = {pair->a, pair->b};

	return siphash(&p->index->key, words, sizeof(words));
}

static bool is_pair(void *ctx, size_t position)
{
	const struct wanted *w = ctx;
	const struct prot_pair *pair = &w->p->pairs[position], *entry = w->entry;

	return pair->a == entry->a && pair->b == entry->b;
}

uint32_t protection_pair(struct protection *p, uint32_t a, uint32_t b)
{
	struct prot_pair pair = ordered(a, b);
	struct wanted w = {p, &pair};

	return have(p, PAIRS, pair_hash(p, &pair), is_pair, &w);
}

uint32_t protection_find_pair(const struct protection *p, uint32_t a, uint32_t b)
{
	struct prot_pair pair = ordered(a, b);
	struct wanted w = {p, &pair};
	size_t at = race_index_find(&p->index->of[PAIRS], pair_hash(p, &pair), is_pair, &w);

	return at == RACE_INDEX_NONE ? PROTECTION_NONE : (uint32_t)at;
}

static bool is_take(void *ctx, size_t position)
{
	const struct wanted *w = ctx;
	const struct prot_take *a = &w->p->takes[position], *b = w->entry;

	return a->lock == b->lock && a->function == b->function && a->operation == b->operation && a->context == b->context &&
	       a->irqs_off == b->irqs_off && a->softirqs_off == b->softirqs_off && a->shared == b->shared &&
	       a->tried == b->tried && strcmp(a->site, b->site) == 0;
}

uint32_t protection_take_entry(struct protection *p, const struct prot_take *take)
{
	const uint32_t words[3] = {take->lock, take->function, take->operation};
	struct wanted w = {p, take};

	return have(p, TAKES, siphash(&p->index->key, words, sizeof(words)), is_take, &w);
}

static bool is_use(void *ctx, size_t position)
{
	const struct wanted *w = ctx;
	const struct prot_use *a = &w->p->uses[position], *b = w->entry;

	return a->access == b->access && a->lock == b->lock && a->taken_at == b->taken_at && a->decides == b->decides &&
	       a->steps == b->steps;
}

uint32_t protection_use(struct protection *p, const struct prot_use *use)
{
	const uint64_t words[2] = {(uint64_t)use->access << 32 | use->lock, use->taken_at};
	struct wanted w = {p, use};

	return have(p, USES, siphash(&p->index->key, words, sizeof(words)), is_use, &w);
}

bool protection_no_memory(const struct protection *p)
{
	return p->index->no_memory;
}
