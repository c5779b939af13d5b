// SPDX-License-Identifier: GPL-2.0-or-later
/* Describes the objects of slab caches. A slab's pages hold objects at equal distances (mm/slub.c). */
#include <stdio.h>
#include <string.h>

#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_members.h"
#include "hv/guest/linux_memory_slab.h"
#include "hv/guest/linux_memory_types.h"

#define OBJECT_MAX (4u << 20) /* bytes; bounds what a hostile guest can claim */

void linux_find_caches(struct guest *g)
{
	struct linux_cache_layout *c = &g->memory.cache;
	uint32_t size = g->btf ? btf_sizeof(g->btf, "kmem_cache") : 0;

	linux_find_member(g, "kmem_cache", "name", size, &c->name);
	linux_find_member(g, "kmem_cache", "size", size, &c->size);
	linux_find_member(g, "kmem_cache", "object_size", size, &c->object_size);
	linux_find_member(g, "kmem_cache", "red_left_pad", size, &c->left_pad);
	linux_find_member(g, "kmem_cache", "refcount", size, &c->aliases);
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
 * Set whether the kernel has merged the cache. kmem_cache.refcount counts its users: SLUB adds 1 for each cache that it merges
 * into this one (__kmem_cache_alias() in mm/slub.c). It never merges a cache with a constructor, with a part that user space
 * may copy (usersize), or with a flag that asks for a cache of its own; the count of such a cache is 1, or negative.
 */
static void set_merged(const struct guest *g, uint64_t cache, struct guest_memory *out)
{
	uint64_t aliases;

	out->merged = GUEST_MERGED_UNKNOWN;
	if (linux_read_member(g, cache, &g->memory.cache.aliases, &aliases) == 0)
		out->merged = (int32_t)aliases > 1 ? GUEST_MERGED_YES : GUEST_MERGED_NO;
}

/* Set the type of the object by the name of its cache, which tells the type only if the cache is not merged. */
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

bool linux_slab_at(const struct guest *g, const struct guest_page *head, uint64_t gva, uint32_t size, struct guest_memory *out)
{
	const struct linux_cache_layout *c = &g->memory.cache;
	const struct linux_page_layout *p = &g->memory.page;
	uint64_t start = g->memory.page_offset + head->pfn * X86_PAGE_SIZE, object;
	uint64_t cache = linux_member_value(head->copy, &p->cache), objects = linux_member_value(head->copy, &p->objects);
	uint64_t name, stride, object_size, left_pad = 0;

	if (linux_read_member(g, cache, &c->name, &name) || linux_read_member(g, cache, &c->size, &stride) ||
	    linux_read_member(g, cache, &c->object_size, &object_size) || !stride || stride > OBJECT_MAX ||
	    object_size > stride || gva < start)
		return false;
	if (c->left_pad.size && (linux_read_member(g, cache, &c->left_pad, &left_pad) || left_pad > stride - object_size))
		return false;
	if (read_name(g, name, out->cache, sizeof(out->cache))) {
		out->cache[0] = '\0';
		return false;
	}
	out->kind = GUEST_MEMORY_SLAB;
	set_merged(g, cache, out);
	object = start + (gva - start) / stride * stride + left_pad;
	/*
	 * Set no object for an address in a red zone before an object, for an address after the last object, or for an address
	 * in a KFENCE object, which is at another place of its page than the stride says.
	 */
	if (gva < object || (gva - start) / stride >= objects)
		return true;
	out->object = object;
	out->object_size = (uint32_t)object_size;
	out->offset = (uint32_t)(gva - object);
	name_type(g, size, out);
	return true;
}
