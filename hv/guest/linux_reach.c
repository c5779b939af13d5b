// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds slab objects that are lost: in use, but nothing points to them. As kmemleak does
 * (Documentation/dev-tools/kmemleak.rst), each aligned word is taken for a pointer, and a pointer counts if it points to any
 * byte of an object, or to a byte between the object and the next one. Objects are followed from the memory that is in no slab:
 * variables, per-CPU memory, stacks and other pages. Unlike in kmemleak, words in an unused part of a stack do not count as
 * pointers. The bytes between objects are looked at too: KASAN keeps there the list of freed objects that it holds back.
 */
#include <stdlib.h>
#include <string.h>

#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_sheaves.h"
#include "hv/guest/linux_slabs.h"
#include "hv/guest/linux_unused_stacks.h"

#define LOST_MAX (1u << 20) /* objects, more than a running kernel loses; their list takes 24 MiB */

struct reach {
	const struct guest *g;
	struct linux_slabs slabs;
	/* Objects that were reached, and whose words are still to be looked at. Each object is added at most once. */
	struct reached {
		uint32_t slab, number;
	} * todo;
	size_t todo_count;
};

static void reach(struct reach *r, uint64_t gva)
{
	struct linux_slabs *s = &r->slabs;
	uint32_t number;
	const struct linux_known_slab *slab = linux_slabs_at(s, r->g, gva, &number);

	if (!slab || s->state[slab->first + number])
		return;
	s->state[slab->first + number] = LINUX_OBJECT_REACHED;
	r->todo[r->todo_count++] = (struct reached){(uint32_t)(slab - s->slab), number};
}

/*
 * Follow all pointers in [gva, gva + len), which is in the direct map. Addresses without RAM are skipped. The memory is read by
 * its GPA: a walk of the page tables for each object would take most of the search's time.
 */
static void look_through(struct reach *r, uint64_t gva, uint64_t len)
{
	uint64_t words[X86_PAGE_SIZE / sizeof(uint64_t)], end = gva + len, start = r->g->memory.page_offset;

	gva = (gva + sizeof(*words) - 1) & ~(sizeof(*words) - 1);
	while (gva < end) {
		uint64_t bytes = X86_PAGE_SIZE - gva % X86_PAGE_SIZE;

		if (bytes > end - gva)
			bytes = end - gva;
		if (target_read_phys(r->g->target, gva - start, words, bytes) == 0)
			for (size_t i = 0; i < bytes / sizeof(*words); i++)
				if (words[i] - start < r->slabs.pages * X86_PAGE_SIZE)
					reach(r, words[i]);
		gva += bytes;
	}
}

static void look_through_object(struct reach *r, const struct reached *object)
{
	const struct linux_known_slab *slab = &r->slabs.slab[object->slab];

	look_through(r, slab->in.start + (uint64_t)object->number * slab->in.stride, slab->in.stride);
}

static void reach_more(struct reach *r, const struct guest_roots *more)
{
	for (size_t i = 0; i < more->count; i++)
		reach(r, more->object[i].gva);
	for (size_t i = 0; i < more->cpus; i++)
		for (unsigned n = 0; n < X86_GPRS; n++)
			reach(r, more->regs[i].gpr[n]);
}

/* Mark all objects that can be reached. */
static void reach_all(struct reach *r, const struct guest_roots *more)
{
	const struct linux_slabs *s = &r->slabs;

	reach_more(r, more);
	for (uint64_t page = 0; page < s->pages; page++)
		if (s->of[page] == LINUX_NO_SLAB)
			look_through(r, r->g->memory.page_offset + page * X86_PAGE_SIZE + s->unused[page],
				     X86_PAGE_SIZE - s->unused[page]);
	while (r->todo_count) {
		const struct reached next = r->todo[--r->todo_count];

		look_through_object(r, &next);
	}
}

/* Copy the lost objects to `out` if it is not NULL. Returns their number. */
static size_t list_lost(const struct linux_slabs *s, struct guest_object *out)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct linux_known_slab *slab = &s->slab[i];

		for (uint32_t number = 0; number < slab->in.objects && !slab->odd; number++) {
			if (s->state[slab->first + number])
				continue;
			if (out)
				out[count] = (struct guest_object){
					.gva = slab->in.start + (uint64_t)number * slab->in.stride + slab->in.left_pad,
					.cache = slab->in.cache,
					.size = slab->in.object_size,
				};
			count++;
		}
	}
	return count;
}

/* Returns whether an object may be on two lists because a CPU is about to move it (linux_cache_layout.shared_lists). */
static bool may_share_lists(const struct guest *g, const struct guest_roots *more)
{
	if (!g->memory.cache.shared_lists)
		return false;
	for (size_t i = 0; i < more->cpus; i++)
		if (!x86_user_mode(&more->regs[i]) && !(more->regs[i].rflags & X86_RFLAGS_IF))
			return true;
	return !more->cpus;
}

int guest_lost_objects(const struct guest *g, const struct guest_roots *more, struct guest_object **out, size_t *count,
		       struct guest_object *twice)
{
	struct reach r = {.g = g};
	size_t lost;
	int rc = -1;

	*out = NULL;
	*count = 0;
	*twice = (struct guest_object){0};
	if (linux_slabs_read(&r.slabs, g) < 0)
		goto out;
	if (linux_mark_sheaves(&r.slabs, g) < 0)
		goto out;
	linux_find_unused_stacks(g, more, r.slabs.unused, r.slabs.pages);
	r.todo = malloc((r.slabs.objects + 1) * sizeof(*r.todo));
	if (!r.todo)
		goto out;
	reach_all(&r, more);
	lost = list_lost(&r.slabs, NULL);
	*out = lost <= LOST_MAX ? malloc((lost + 1) * sizeof(**out)) : NULL;
	if (!*out)
		goto out;
	*count = list_lost(&r.slabs, *out);
	rc = 0;
out:
	if (!may_share_lists(g, more))
		*twice = r.slabs.twice;
	free(r.todo);
	linux_slabs_free(&r.slabs);
	return rc;
}
