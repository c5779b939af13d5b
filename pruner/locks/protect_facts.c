// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes facts about recorded accesses and locks, for the parts of protect_judge(): their names, their order, and which of
 * them belong together.
 */
#include "pruner/locks/protect_facts.h"

#include <string.h>

#include "hv/base/order.h"
#include "hv/race/slab_name.h"

#define WORD 8u

const char *protect_function(const struct protection *p, uint32_t function)
{
	const char *name, *colon;

	if (function >= p->function_count)
		return "an unknown function";
	name = p->functions[function].name;
	colon = strchr(name, ':');
	return colon ? colon + 1 : name;
}

const struct prot_held *protect_held(const struct prot_access *a, uint32_t lock)
{
	for (unsigned i = 0; i < a->held_count; i++) {
		if (a->held[i].lock == lock)
			return &a->held[i];
	}
	return NULL;
}

bool protect_inside(const struct protection *p, const struct prot_access *a, uint32_t lock)
{
	const struct guest_memory *m = &p->locks[lock].memory;

	return m->object && m->object == a->memory.object;
}

/*
 * Returns whether all objects of the slab cache have one type, so that an offset is the same member in each object. The kmalloc
 * caches and merged caches hold objects of many types.
 */
static bool of_one_kind(const struct guest_memory *m)
{
	return m->object && slab_has_one_type(m);
}

static int order_member(const struct guest_memory *a, const struct guest_memory *b)
{
	int order = strcmp(a->cache, b->cache);

	if (!order)
		order = strcmp(a->type, b->type);
	return order ? order : order_u64(a->offset / WORD, b->offset / WORD);
}

static int order_datum(const struct prot_access *a, const struct prot_access *b)
{
	int order = order_u64(a->gva / WORD, b->gva / WORD);

	return order ? order : order_u64(a->life, b->life);
}

int protect_order(const struct prot_access *a, const struct prot_access *b)
{
	bool kind = of_one_kind(&a->memory);
	int order = of_one_kind(&b->memory) - kind;

	if (!order && kind)
		order = order_member(&a->memory, &b->memory);
	return order ? order : order_datum(a, b);
}

bool protect_same_datum(const struct prot_access *a, const struct prot_access *b)
{
	return !order_datum(a, b);
}

bool protect_same_member(const struct prot_access *a, const struct prot_access *b)
{
	if (of_one_kind(&a->memory) && of_one_kind(&b->memory))
		return !order_member(&a->memory, &b->memory);
	return protect_same_datum(a, b);
}

bool protect_overlap(const struct prot_access *a, const struct prot_access *b)
{
	uint64_t from_a = a->gva % WORD, from_b = b->gva % WORD;

	return from_a < from_b + b->size && from_b < from_a + a->size;
}

bool protect_same_lock(const struct protection *p, uint32_t a, uint32_t b)
{
	const struct prot_lock *one = &p->locks[a], *other = &p->locks[b];

	if (a == b)
		return true;
	return one->kind == other->kind && of_one_kind(&one->memory) && of_one_kind(&other->memory) &&
	       one->memory.offset == other->memory.offset && !order_member(&one->memory, &other->memory);
}
