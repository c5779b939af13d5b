// SPDX-License-Identifier: GPL-2.0-or-later
/* Describes the objects of slab caches. A slab's pages hold objects at equal distances (mm/slub.c). */
#include <stdio.h>
#include <string.h>

#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_members.h"
#include "hv/guest/linux_memory_slab.h"
#include "hv/guest/linux_memory_types.h"

#define OBJECT_MIN sizeof(void *) /* bytes: a free object contains a pointer */
#define OBJECT_MAX (4u << 20)	  /* maximum size of an object in bytes: bounds what a hostile guest can claim */

void linux_find_caches(struct guest *g)
{
	struct linux_cache_layout *c = &g->memory.cache;
	uint32_t size = g->btf ? btf_sizeof(g->btf, "kmem_cache") : 0;

	linux_find_member(g, "kmem_cache", "name", size, &c->name);
	linux_find_member(g, "kmem_cache", "size", size, &c->size);
	linux_find_member(g, "kmem_cache", "object_size", size, &c->object_size);
	linux_find_member(g, "kmem_cache", "red_left_pad", size, &c->left_pad);
	linux_find_member(g, "kmem_cache", "refcount", size, &c->aliases);
	linux_find_member(g, "kmem_cache", "offset", size, &c->free_offset);
	linux_find_member(g, "kmem_cache", "random", size, &c->random);
	linux_find_member(g, "kmem_cache", "cpu_slab", size, &c->cpu_slab);
	if (c->cpu_slab.size)
		linux_find_member(g, "kmem_cache_cpu", "freelist", X86_PAGE_SIZE, &c->cpu_free);
	c->shared_lists = c->cpu_free.size && btf_member(g->btf, "kmem_cache_cpu", "lock", &(struct btf_member){0}) != 0;
	c->sheaves = g->btf && btf_member(g->btf, "kmem_cache", "cpu_sheaves", &(struct btf_member){0}) == 0;
	/*
	 * The SLAB allocator, removed in Linux 6.8, lays out objects differently. Its caches have the member `colour`; SLUB's
	 * do not.
	 */
	if (g->btf && btf_member(g->btf, "kmem_cache", "colour", &(struct btf_member){0}) == 0)
		c->size.size = 0;
}

/* Read a printable string of at most max - 1 bytes. Returns 0, or -1 if there is none. */
static int read_name(const struct guest *g, uint64_t gva, char *out, size_t max)
{
	size_t len = X86_PAGE_SIZE - (gva & (X86_PAGE_SIZE - 1)), end;

	if (len > max)
		len = max;
	if (!x86_kernel_address(gva) || guest_read(g, gva, out, len))
		return -1;
	if (!memchr(out, '\0', len) && len < max) {
		if (guest_read(g, gva + len, out + len, max - len))
			return -1;
		len = max;
	}
	end = strnlen(out, len);
	for (size_t i = 0; i < end; i++) {
		if (out[i] < ' ' || out[i] > '~')
			return -1;
	}
	if (!end || end == max)
		return -1;
	memset(out + end, 0, max - end);
	return 0;
}

/* Returns the least size of an object of that type, or 0 if the kernel has no such type. */
static uint32_t least_size(const struct guest *g, const struct linux_cache_type *type)
{
	struct btf_member tail;

	if (type->tail && btf_member(g->btf, type->type, type->tail, &tail) == 0)
		return tail.offset;
	return btf_sizeof(g->btf, type->type);
}

/*
 * Store in out->merged whether the kernel has merged the cache with others. kmem_cache.refcount begins at 1, and SLUB adds 1
 * for each cache that it merges into this cache (__kmem_cache_alias() in mm/slub.c). SLUB never merges a cache with a
 * constructor, with a part that user space may copy (usersize), or with a flag that asks for a cache of its own. The count of
 * such a cache is 1, or negative.
 */
static void set_merged(const struct guest *g, uint64_t cache, struct guest_memory *out)
{
	uint64_t aliases;

	out->merged = GUEST_MERGED_UNKNOWN;
	if (linux_read_member(g, cache, &g->memory.cache.aliases, &aliases) == 0)
		out->merged = (int32_t)aliases > 1 ? GUEST_MERGED_YES : GUEST_MERGED_NO;
}

/* Store in out->type the struct of the object. The name of the cache gives it, but only if the cache is not merged. */
static void name_type(const struct guest *g, uint32_t size, struct guest_memory *out)
{
	const struct linux_cache_type type = linux_cache_type(out->cache);
	uint32_t least = least_size(g, &type);

	if (out->merged != GUEST_MERGED_NO)
		return;
	if (!least || least > out->object_size || out->offset >= out->object_size ||
	    btf_path_at(g->btf, type.type, out->offset, size, out->member, sizeof(out->member)))
		return;
	snprintf(out->type, sizeof(out->type), "%s", type.type);
}

int linux_slab_layout(const struct guest *g, const struct guest_page *head, struct linux_slab *out)
{
	const struct linux_cache_layout *c = &g->memory.cache;
	const struct linux_page_layout *p = &g->memory.page;
	uint64_t stride, object_size, left_pad = 0;

	out->start = g->memory.page_offset + head->pfn * X86_PAGE_SIZE;
	out->cache = linux_member_value(head->copy, &p->cache);
	out->objects = (uint32_t)linux_member_value(head->copy, &p->objects);
	if (linux_read_member(g, out->cache, &c->size, &stride) ||
	    linux_read_member(g, out->cache, &c->object_size, &object_size) || stride < OBJECT_MIN || stride > OBJECT_MAX ||
	    object_size > stride)
		return -1;
	if (c->left_pad.size && (linux_read_member(g, out->cache, &c->left_pad, &left_pad) || left_pad > stride - object_size))
		return -1;
	out->stride = (uint32_t)stride;
	out->object_size = (uint32_t)object_size;
	out->left_pad = (uint32_t)left_pad;
	return 0;
}

int guest_cache_name(const struct guest *g, uint64_t cache, char *out, size_t max)
{
	uint64_t name;

	*out = '\0';
	if (linux_read_member(g, cache, &g->memory.cache.name, &name) || read_name(g, name, out, max)) {
		*out = '\0';
		return -1;
	}
	return 0;
}

bool linux_slab_at(const struct guest *g, const struct guest_page *head, uint64_t gva, uint32_t size, struct guest_memory *out)
{
	struct linux_slab slab;
	uint64_t object;

	if (linux_slab_layout(g, head, &slab) < 0 || gva < slab.start ||
	    guest_cache_name(g, slab.cache, out->cache, sizeof(out->cache)) < 0)
		return false;
	out->kind = GUEST_MEMORY_SLAB;
	set_merged(g, slab.cache, out);
	object = slab.start + (gva - slab.start) / slab.stride * slab.stride + slab.left_pad;
	/*
	 * Leave out->object unknown for an address in a red zone before an object, for an address after the last object, and
	 * for an address in a KFENCE object, which is not at the place of its page that the stride gives.
	 */
	if (gva < object || (gva - slab.start) / slab.stride >= slab.objects)
		return true;
	out->object = object;
	out->object_size = slab.object_size;
	out->offset = (uint32_t)(gva - object);
	name_type(g, size, out);
	return true;
}
