// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists slabs and their free objects (linux_slabs.h). */
#include "hv/guest/linux_slabs.h"

#include <byteswap.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_members.h"
#include "hv/guest/linux_memory_page.h"

/*
 * Slabs in this many pages from the start of the KFENCE pool are left out. The pool has two pages for each of
 * CONFIG_KFENCE_NUM_OBJECTS objects (255 by default), and two more, so 1024 pages are enough for twice the default.
 */
#define KFENCE_PAGES_MAX 1024

struct reader {
	struct linux_slabs *s;
	const struct guest *g;
	uint64_t kfence, kfence_end; /* the KFENCE pool, GVAs in the direct map; its free objects are on no list of a slab */
};

/* ---- free objects ---- */

const struct linux_known_slab *linux_slabs_at(const struct linux_slabs *s, const struct guest *g, uint64_t gva,
					      uint32_t *object)
{
	uint64_t offset = gva - g->memory.page_offset, page = offset / X86_PAGE_SIZE;
	const struct linux_known_slab *slab;

	if (page >= s->pages || s->of[page] == LINUX_NO_SLAB)
		return NULL;
	slab = &s->slab[s->of[page]];
	*object = (uint32_t)((gva - slab->in.start) / slab->in.stride);
	return *object < slab->in.objects ? slab : NULL;
}

/*
 * Store in *next the address of the object that follows `object` on the list. With CONFIG_SLAB_FREELIST_HARDENED, the kernel
 * encodes this address (freelist_ptr_decode()). Returns 0 or -1.
 */
static int next_free(const struct guest *g, const struct linux_known_slab *slab, uint64_t object, uint64_t *next)
{
	const struct linux_cache_layout *c = &g->memory.cache;
	uint64_t offset, random = 0, at;

	if (linux_read_member(g, slab->in.cache, &c->free_offset, &offset) || slab->in.stride < sizeof(*next) ||
	    offset > slab->in.stride - sizeof(*next))
		return -1;
	at = object + offset;
	if (guest_read(g, at, next, sizeof(*next)))
		return -1;
	if (c->random.size) {
		if (linux_read_member(g, slab->in.cache, &c->random, &random))
			return -1;
		*next ^= random ^ bswap_64(at);
	}
	return 0;
}

int linux_slabs_mark_free(struct linux_slabs *s, const struct guest *g, uint64_t object)
{
	uint32_t number;
	const struct linux_known_slab *slab = linux_slabs_at(s, g, object, &number);

	if (!slab)
		return 0;
	if (object != slab->in.start + (uint64_t)number * slab->in.stride + slab->in.left_pad)
		return -1;
	if (s->state[slab->first + number] & LINUX_OBJECT_FREE) {
		if (!s->twice.gva)
			s->twice = (struct guest_object){object, slab->in.cache, slab->in.object_size};
		return -1;
	}
	s->state[slab->first + number] |= LINUX_OBJECT_FREE;
	return 0;
}

/*
 * Follow the list of free objects that begins with `object`, and mark each of its objects as free. Returns the number of
 * objects. Returns -1 if an object is not in the slab `own`, if an object was marked before, or if the list is unreadable.
 * Stores in s->twice an object that was marked before.
 */
static int mark_free(struct linux_slabs *s, const struct guest *g, const struct linux_known_slab *own, uint64_t object)
{
	int count = 0;

	for (; object; count++) {
		uint32_t number;

		if (linux_slabs_at(s, g, object, &number) != own || linux_slabs_mark_free(s, g, object) < 0 ||
		    next_free(g, own, object, &object))
			return -1;
	}
	return count;
}

/* Mark the objects on the list of a CPU, which are in one slab of the cache. Returns 0 or -1. */
static int mark_cpu_free(struct linux_slabs *s, const struct guest *g, uint64_t cache, uint64_t first)
{
	const struct linux_known_slab *slab;
	uint32_t number;

	if (!first)
		return 0;
	slab = linux_slabs_at(s, g, first, &number);
	return slab && slab->in.cache == cache && mark_free(s, g, slab, first) >= 0 ? 0 : -1;
}

static int mark_cpus_free(struct linux_slabs *s, const struct guest *g, uint64_t cache)
{
	const struct linux_memory *m = &g->memory;
	uint64_t cpu_slab, base, first;

	/* Since Linux 7.0, CPUs have sheaves only. */
	if (!m->cache.cpu_slab.size)
		return 0;
	if (linux_read_member(g, cache, &m->cache.cpu_slab, &cpu_slab))
		return -1;
	for (uint32_t cpu = 0; cpu < m->percpu.cpus; cpu++)
		if (linux_percpu_area(g, cpu, &base) || linux_read_member(g, base + cpu_slab, &m->cache.cpu_free, &first) ||
		    mark_cpu_free(s, g, cache, first) < 0)
			return -1;
	return 0;
}

/*
 * Returns whether the kernel has finished making the slab's list of free objects. The kernel makes the list of a new slab from
 * its first object on (shuffle_freelist() in mm/slub.c), and only then gives the slab to a CPU (`frozen`) or puts it on a list
 * of slabs. So the list is complete if one of these two has happened.
 */
static bool is_list_complete(const struct guest *g, const struct guest_page *page)
{
	const struct linux_page_layout *p = &g->memory.page;

	return (p->frozen.size && linux_member_value(page->copy, &p->frozen)) || linux_page_is_on_list(g, page, p->slab_list);
}

/*
 * Mark the objects on the slab's own list as free. Set slab->odd if the list is invalid, or if the kernel's count of the other
 * objects does not agree with the list. The count does not agree while a CPU takes the list, and in pages of KFENCE.
 */
static void mark_slab_free(struct linux_slabs *s, const struct guest *g, struct linux_known_slab *slab)
{
	const struct linux_page_layout *p = &g->memory.page;
	const struct guest_object twice = s->twice;
	struct guest_page page;
	int count = -1;

	if (linux_page(g, slab->in.start - g->memory.page_offset, &page) == 0) {
		count = mark_free(s, g, slab, linux_member_value(page.copy, &p->free));
		if (!is_list_complete(g, &page))
			s->twice = twice;
	}
	slab->odd = count < 0 || slab->in.objects - (uint32_t)count != linux_member_value(page.copy, &p->inuse);
}

/* ---- slabs ---- */

static int add_slab(struct linux_slabs *s, const struct linux_known_slab *slab)
{
	struct linux_known_slab *to = list_grow(&s->slab, &s->count, sizeof(*to), NULL);

	if (!to)
		return -1;
	*to = *slab;
	return 0;
}

static uint64_t pages_of(const struct linux_known_slab *slab)
{
	return ((uint64_t)slab->in.stride * slab->in.objects + X86_PAGE_SIZE - 1) / X86_PAGE_SIZE;
}

/* Read the slab whose first page is `head`; leave out one that is invalid. Returns 0, or -1 if there are too many objects. */
static int read_slab(struct reader *r, const struct guest_page *head)
{
	struct linux_slabs *s = r->s;
	struct linux_known_slab slab = {.first = s->objects};
	uint64_t pages;

	if (linux_slab_layout(r->g, head, &slab.in) < 0 || (slab.in.start >= r->kfence && slab.in.start < r->kfence_end))
		return 0;
	pages = pages_of(&slab);
	if (!pages || pages > s->pages - head->pfn)
		return 0;
	if (s->objects + slab.in.objects > LINUX_SLABS_OBJECTS_MAX || add_slab(s, &slab) < 0)
		return -1;
	for (uint64_t i = 0; i < pages; i++)
		s->of[head->pfn + i] = (uint32_t)(s->count - 1);
	s->objects += slab.in.objects;
	return 0;
}

/* Mark the free pages that begin with this one. */
static void note_unused(struct reader *r, const struct guest_page *page)
{
	uint64_t count = linux_free_pages(r->g, page), left = r->s->pages - page->pfn;

	for (uint64_t i = 0; i < count && i < left; i++)
		r->s->unused[page->pfn + i] = X86_PAGE_SIZE;
}

/*
 * Look at `count` struct pages, of which `copy` has copies. The first one is that of page frame `pfn`. Returns 0, or -1 if
 * there are too many objects.
 */
static int read_pages(struct reader *r, uint64_t pfn, unsigned count, const uint8_t *copy)
{
	const struct linux_page_layout *p = &r->g->memory.page;

	for (unsigned i = 0; i < count; i++) {
		struct guest_page page = {.pfn = pfn + i, .info = r->g->memory.vmemmap + (pfn + i) * p->size};

		if (r->s->of[page.pfn] != LINUX_NO_SLAB || r->s->unused[page.pfn])
			continue;
		memcpy(page.copy, copy + (size_t)i * p->size, p->size);
		if (linux_member_value(page.copy, &p->head) & 1)
			continue;
		if (!linux_page_is_slab(r->g, &page))
			note_unused(r, &page);
		else if (read_slab(r, &page) < 0)
			return -1;
	}
	return 0;
}

static int read_all_pages(struct reader *r)
{
	const struct linux_page_layout *p = &r->g->memory.page;
	uint8_t copy[X86_PAGE_SIZE];
	unsigned together = X86_PAGE_SIZE / p->size;

	for (uint64_t pfn = 0; pfn < r->s->pages; pfn += together) {
		unsigned count = r->s->pages - pfn < together ? (unsigned)(r->s->pages - pfn) : together;

		/* Memory that the machine does not have has no struct pages. */
		if (guest_read(r->g, r->g->memory.vmemmap + pfn * p->size, copy, (size_t)count * p->size))
			continue;
		if (read_pages(r, pfn, count, copy) < 0)
			return -1;
	}
	return 0;
}

static int compare_caches(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

uint64_t *linux_slabs_caches(const struct linux_slabs *s, size_t *count)
{
	uint64_t *caches = malloc((s->count + 1) * sizeof(*caches));

	*count = 0;
	if (!caches)
		return NULL;
	for (size_t i = 0; i < s->count; i++)
		caches[i] = s->slab[i].in.cache;
	qsort(caches, s->count, sizeof(*caches), compare_caches);
	for (size_t i = 0; i < s->count; i++)
		if (!i || caches[i] != caches[i - 1])
			caches[(*count)++] = caches[i];
	return caches;
}

/* Mark the objects on the lists of the CPUs. Returns 0 or -1. */
static int mark_all_cpus_free(struct linux_slabs *s, const struct guest *g)
{
	size_t count;
	uint64_t *caches = linux_slabs_caches(s, &count);
	int rc = caches && count * g->memory.percpu.cpus <= LINUX_SLABS_LISTS_MAX ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = mark_cpus_free(s, g, caches[i]);
	free(caches);
	return rc;
}

/*
 * Treat the pages of each odd slab as pages of no slab. A slab is odd if its list of free objects is not understood
 * (linux_known_slab.odd), so it is unknown which of its objects are in use. In pages of no slab, all pointers are followed.
 */
static void forget_odd(struct linux_slabs *s, const struct guest *g)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct linux_known_slab *slab = &s->slab[i];

		if (slab->odd)
			memset(&s->of[(slab->in.start - g->memory.page_offset) / X86_PAGE_SIZE], 0xff,
			       pages_of(slab) * sizeof(*s->of));
	}
}

/*
 * Returns whether the CPUs' lists of free objects are known, or the kernel has sheaves in place of them. Without the lists,
 * free objects would count as in use.
 */
static bool are_cpu_lists_known(const struct linux_memory *m)
{
	return m->cache.cpu_slab.size ? m->cache.cpu_free.size && m->percpu.cpus : m->cache.sheaves;
}

static bool is_layout_known(const struct guest *g)
{
	const struct linux_memory *m = &g->memory;

	return g->stage == LINUX_READY && m->page.size && m->page_offset && m->page.free.size && m->page.refs.size &&
	       m->page.head.size && m->page.cache.size && m->page.objects.size && m->page.inuse.size &&
	       (m->page.slab_flag >= 0 || m->page.slab.mask) && m->cache.size.size && m->cache.free_offset.size &&
	       are_cpu_lists_known(m);
}

int linux_slabs_read(struct linux_slabs *s, const struct guest *g)
{
	struct reader r = {.s = s, .g = g};
	uint64_t at = symtab_addr(g->symtab, "max_pfn"), pool = symtab_addr(g->symtab, "__kfence_pool");

	*s = (struct linux_slabs){0};
	if (!is_layout_known(g) || !at || guest_read(g, at, &s->pages, sizeof(s->pages)) || !s->pages ||
	    s->pages > LINUX_SLABS_PAGES_MAX)
		return -1;
	if (pool && guest_read(g, pool, &r.kfence, sizeof(r.kfence)) == 0 && r.kfence)
		r.kfence_end = r.kfence + KFENCE_PAGES_MAX * X86_PAGE_SIZE;
	s->of = malloc(s->pages * sizeof(*s->of));
	s->unused = calloc(s->pages, sizeof(*s->unused));
	if (!s->of || !s->unused)
		return -1;
	memset(s->of, 0xff, s->pages * sizeof(*s->of));
	if (read_all_pages(&r) < 0 || !s->count)
		return -1;
	s->state = calloc(s->objects + 1, sizeof(*s->state));
	if (!s->state)
		return -1;
	for (size_t i = 0; i < s->count; i++)
		mark_slab_free(s, g, &s->slab[i]);
	if (mark_all_cpus_free(s, g) < 0)
		return -1;
	forget_odd(s, g);
	return 0;
}

void linux_slabs_free(struct linux_slabs *s)
{
	free(s->of);
	free(s->unused);
	free(s->slab);
	free(s->state);
	*s = (struct linux_slabs){0};
}
