// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads sheaves of slab caches (linux_sheaves.h). */
#include "hv/guest/linux_sheaves.h"

#include <stdlib.h>

#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_members.h"

#define SHEAVES_MAX                                                                                                         \
	1024	       /* on a list of a barn: more than any kernel keeps (MAX_FULL_SHEAVES is 10). Bounds a hostile guest. \
			*/
#define COUNT_MAX 4096 /* objects in a sheaf: more than calculate_sheaf_capacity() gives. Bounds the bytes that are read. */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Store in *offset the offset of the member `name` in struct `type`. Returns false if the kernel has no such member. */
static bool offset_of(const struct guest *g, const char *type, const char *name, uint32_t *offset)
{
	struct btf_member m;

	if (btf_member(g->btf, type, name, &m))
		return false;
	*offset = m.offset;
	return true;
}

/*
 * Find where the pointers to a cache's barns are. Since Linux 7.0, they are in the elements of an array in kmem_cache. Before,
 * that array points to structs kmem_cache_node, which have the pointers. Returns false if the layout is unknown.
 */
static bool find_barns(const struct guest *g, struct linux_sheaf_layout *l)
{
	struct btf_member array;

	l->node_size = btf_sizeof(g->btf, "kmem_cache_per_node_ptrs");
	l->by_pointer = !l->node_size;
	if (l->by_pointer)
		l->node_size = sizeof(uint64_t);
	linux_find_member(g, l->by_pointer ? "kmem_cache_node" : "kmem_cache_per_node_ptrs", "barn", X86_PAGE_SIZE, &l->barn);
	if (!l->barn.size || btf_member(g->btf, "kmem_cache", l->by_pointer ? "node" : "per_node", &array))
		return false;
	l->nodes = array.offset;
	l->node_count = array.size / l->node_size;
	return offset_of(g, "node_barn", "sheaves_full", &l->lists[0]) &&
	       offset_of(g, "node_barn", "sheaves_empty", &l->lists[1]);
}

void linux_find_sheaves(struct guest *g)
{
	static const char *const of_cpu[] = {"main", "spare", "rcu_free"};
	struct linux_sheaf_layout *l = &g->memory.cache.sheaf;

	_Static_assert(COUNT(of_cpu) == COUNT(l->of_cpu), "a sheaf of a CPU has no member");
	*l = (struct linux_sheaf_layout){0};
	if (!g->btf)
		return;
	linux_find_member(g, "kmem_cache", "cpu_sheaves", X86_PAGE_SIZE, &l->cpu);
	linux_find_member(g, "slab_sheaf", "size", X86_PAGE_SIZE, &l->count);
	for (unsigned i = 0; i < COUNT(of_cpu); i++)
		linux_find_member(g, "slub_percpu_sheaves", of_cpu[i], X86_PAGE_SIZE, &l->of_cpu[i]);
	if (!l->cpu.size || !l->of_cpu[0].size || !offset_of(g, "slab_sheaf", "objects", &l->objects) ||
	    !offset_of(g, "slab_sheaf", "barn_list", &l->link) || !find_barns(g, l))
		l->count.size = 0;
}

/* ---- one sheaf ---- */

struct marker {
	struct linux_slabs *s;
	const struct guest *g;
	/* Lists, sheaves and objects that may still be looked at. Bounds the time that a hostile guest can cost. */
	uint64_t left;
};

static int spend(struct marker *m, uint64_t count)
{
	if (count > m->left)
		return -1;
	m->left -= count;
	return 0;
}

/*
 * Mark the sheaf's own object, which contains the array of pointers, as reached, so that the search for lost objects does not
 * follow the pointers in the array. Returns the number of pointers for which the sheaf has room. Returns 0 for the kernel's
 * first sheaf, which is in no slab.
 */
static uint64_t take_sheaf(struct marker *m, uint64_t sheaf)
{
	const struct linux_sheaf_layout *l = &m->g->memory.cache.sheaf;
	const struct linux_known_slab *slab;
	uint32_t number;
	uint64_t left;

	slab = linux_slabs_at(m->s, m->g, sheaf, &number);
	if (!slab)
		return 0;
	left = slab->in.start + (uint64_t)(number + 1) * slab->in.stride - sheaf;
	m->s->state[slab->first + number] |= LINUX_OBJECT_REACHED;
	return left < l->objects ? 0 : (left - l->objects) / sizeof(uint64_t);
}

static int mark_sheaf(struct marker *m, uint64_t sheaf)
{
	const struct linux_sheaf_layout *l = &m->g->memory.cache.sheaf;
	uint64_t objects[COUNT_MAX], count;

	if (linux_read_member(m->g, sheaf, &l->count, &count) || count > take_sheaf(m, sheaf) || count > COUNT_MAX ||
	    spend(m, 1 + count) < 0 || guest_read(m->g, sheaf + l->objects, objects, count * sizeof(*objects)))
		return -1;
	for (uint64_t i = 0; i < count; i++)
		if (linux_slabs_mark_free(m->s, m->g, objects[i]) < 0)
			return -1;
	return 0;
}

/* ---- the sheaves of a cache ---- */

static int mark_of_cpu(struct marker *m, uint64_t sheaves)
{
	const struct linux_sheaf_layout *l = &m->g->memory.cache.sheaf;
	uint64_t sheaf;

	for (unsigned i = 0; i < COUNT(l->of_cpu); i++) {
		if (!l->of_cpu[i].size)
			continue;
		if (linux_read_member(m->g, sheaves, &l->of_cpu[i], &sheaf) || (sheaf && mark_sheaf(m, sheaf) < 0))
			return -1;
	}
	return 0;
}

static int mark_list(struct marker *m, uint64_t head)
{
	const struct linux_sheaf_layout *l = &m->g->memory.cache.sheaf;
	uint64_t at = head;

	if (spend(m, 1) < 0)
		return -1;
	for (unsigned i = 0; i < SHEAVES_MAX; i++) {
		if (guest_read(m->g, at, &at, sizeof(at)))
			return -1;
		if (at == head)
			return 0;
		if (mark_sheaf(m, at - l->link) < 0)
			return -1;
	}
	return -1;
}

static int mark_barns(struct marker *m, uint64_t cache)
{
	const struct linux_sheaf_layout *l = &m->g->memory.cache.sheaf;
	uint64_t count = symtab_addr(m->g->symtab, "nr_node_ids"), node, barn;
	uint32_t nodes = 1;

	/* Without CONFIG_NUMA, the kernel has no such variable, and one node. */
	if (count && guest_read(m->g, count, &nodes, sizeof(nodes)))
		return -1;
	for (uint32_t i = 0; i < nodes && i < l->node_count; i++) {
		if (spend(m, 1) < 0)
			return -1;
		node = cache + l->nodes + (uint64_t)i * l->node_size;
		if (l->by_pointer && guest_read(m->g, node, &node, sizeof(node)))
			return -1;
		if (!node)
			continue;
		if (linux_read_member(m->g, node, &l->barn, &barn))
			return -1;
		for (unsigned k = 0; barn && k < COUNT(l->lists); k++)
			if (mark_list(m, barn + l->lists[k]) < 0)
				return -1;
	}
	return 0;
}

static int mark_of_cache(struct marker *m, uint64_t cache)
{
	const struct linux_percpu *p = &m->g->memory.percpu;
	const struct linux_sheaf_layout *l = &m->g->memory.cache.sheaf;
	uint64_t sheaves, base;

	if (linux_read_member(m->g, cache, &l->cpu, &sheaves))
		return -1;
	if (!sheaves)
		return 0;
	for (uint32_t cpu = 0; cpu < p->cpus; cpu++)
		if (linux_percpu_area(m->g, cpu, &base) || mark_of_cpu(m, base + sheaves) < 0)
			return -1;
	return mark_barns(m, cache);
}

int linux_mark_sheaves(struct linux_slabs *s, const struct guest *g)
{
	struct marker m = {.s = s, .g = g, .left = LINUX_SLABS_OBJECTS_MAX};
	uint64_t *caches;
	size_t count;
	int rc;

	if (!g->memory.cache.sheaf.count.size)
		return 0;
	caches = linux_slabs_caches(s, &count);
	rc = caches && count * g->memory.percpu.cpus <= LINUX_SLABS_LISTS_MAX ? 0 : -1;
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = mark_of_cache(&m, caches[i]);
	free(caches);
	return rc;
}
