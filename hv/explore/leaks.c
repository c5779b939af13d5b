// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares lost slab objects (leaks.h). */
#include "hv/explore/leaks.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of an object in which addresses of functions and variables are looked for. */
#define HOLDS_MAX 1024u

void leaks_find(struct leaks *l, const struct kernel *kernel)
{
	struct guest_object twice;

	*l = (struct leaks){0};
	if (guest_lost_objects(kernel->guest, &(struct guest_roots){.empty_stacks = true}, &l->before, &l->before_count,
			       &twice) == 0)
		l->guest = kernel->guest;
}

void leaks_free(struct leaks *l)
{
	free(l->before);
	*l = (struct leaks){0};
}

static uint64_t find_held(const struct guest *g, const struct guest_object *o)
{
	uint64_t words[HOLDS_MAX / sizeof(uint64_t)];
	size_t len = o->size < HOLDS_MAX ? o->size : HOLDS_MAX;
	struct guest_symbol symbol;

	if (guest_read(g, o->gva, words, len))
		return 0;
	for (size_t i = 0; i < len / sizeof(*words); i++)
		if (x86_kernel_address(words[i]) && guest_symbol_at(g, words[i], &symbol) == 0)
			return words[i];
	return 0;
}

static struct lost_object object_of(const struct guest *g, const struct guest_object *in)
{
	struct lost_object o = {.in = *in, .holds = find_held(g, in)};

	guest_cache_name(g, in->cache, o.cache, sizeof(o.cache));
	return o;
}

void leaks_read(const struct leaks *l, const struct x86_regs *regs, size_t cpus, struct lost *out)
{
	const struct guest_roots more = {.object = l->before, .count = l->before_count, .regs = regs, .cpus = cpus};
	struct guest_object *lost, twice;
	size_t count;

	out->known = 0;
	out->count = 0;
	out->twice.in.gva = 0;
	if (!l->guest)
		return;
	if (guest_lost_objects(l->guest, &more, &lost, &count, &twice) == 0) {
		out->known = count < LEAKS_MAX;
		for (size_t i = 0; i < count && i < LEAKS_MAX; i++)
			out->object[out->count++] = object_of(l->guest, &lost[i]);
	}
	if (twice.gva)
		out->twice = object_of(l->guest, &twice);
	free(lost);
}

static uint32_t count_of(const struct lost *lost, const char *name, uint32_t size)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < lost->count; i++)
		count += lost->object[i].in.size == size && strcmp(lost->object[i].cache, name) == 0;
	return count;
}

/* Returns the index of the object's cache, or l->count if no serial order lost an object of this cache. */
static unsigned find(const struct leaks *l, const struct lost_object *o)
{
	unsigned i = 0;

	while (i < l->count && (l->serial[i].size != o->in.size || strcmp(l->serial[i].name, o->cache) != 0))
		i++;
	return i;
}

void leaks_add_serial(struct leaks *l, const struct lost *lost)
{
	if (!lost->known || lost->twice.in.gva)
		l->guest = NULL;
	for (uint32_t i = 0; i < lost->count && l->guest; i++) {
		const struct lost_object *o = &lost->object[i];
		uint32_t count = count_of(lost, o->cache, o->in.size);
		unsigned at = find(l, o);

		if (at == LEAKS_MAX) {
			l->guest = NULL;
		} else if (at == l->count) {
			l->serial[l->count++] = (struct leaks_cache){.size = o->in.size, .most = count};
			memcpy(l->serial[at].name, o->cache, sizeof(o->cache));
		} else if (l->serial[at].most < count) {
			l->serial[at].most = count;
		}
	}
}

static void describe(const struct leaks *l, const struct lost_object *o, uint32_t count, uint32_t serial,
		     struct explore_object *out)
{
	*out = (struct explore_object){.gva = o->in.gva, .size = o->in.size, .count = count, .serial = serial};
	memcpy(out->cache, o->cache, sizeof(out->cache));
	if (o->holds)
		guest_symbol_at(l->guest, o->holds, &out->holds);
}

bool leaks_differ(const struct leaks *l, const struct lost *lost, const struct lost *again, struct explore_object *out)
{
	if (!l->guest || !lost->known || (again && !again->known))
		return false;
	for (uint32_t i = 0; i < lost->count; i++) {
		const struct lost_object *o = &lost->object[i];
		unsigned at = find(l, o);
		uint32_t count = count_of(lost, o->cache, o->in.size), serial = at < l->count ? l->serial[at].most : 0;
		uint32_t more = again ? count_of(again, o->cache, o->in.size) : count;

		if (more < count)
			count = more;
		if (count > serial) {
			describe(l, o, count, serial, out);
			return true;
		}
	}
	return false;
}

bool leaks_freed_twice(const struct leaks *l, const struct lost *lost, const struct lost *again, struct explore_object *out)
{
	const struct lost_object *o = &lost->twice;

	if (!l->guest || !o->in.gva ||
	    (again &&
	     (!again->twice.in.gva || again->twice.in.size != o->in.size || strcmp(again->twice.cache, o->cache) != 0)))
		return false;
	describe(l, o, 0, 0, out);
	return true;
}

bool leaks_explain(const struct lost *lost, const struct explore_object *leak)
{
	return !lost->known || count_of(lost, leak->cache, leak->size) > leak->serial;
}
