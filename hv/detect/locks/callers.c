// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of calls to functions that take locks, and how a stack is looked up in them (callers.h). */
#include "hv/detect/locks/callers.h"

#include <stdlib.h>

#include "hv/base/grow.h"
#include "hv/guest/guest.h"

static void table_fini(struct caller_table *t)
{
	free(t->list);
	*t = (struct caller_table){0};
}

void callers_fini(struct callers *c)
{
	table_fini(&c->takes);
	table_fini(&c->calls);
	table_fini(&c->jumps);
}

/* Returns the index of the first site with this address or a higher one. */
static size_t place_of(const struct caller_table *t, uint64_t addr)
{
	size_t from = 0, to = t->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (t->list[middle].addr < addr)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

int caller_table_add(struct caller_table *t, const struct caller_site *site)
{
	size_t at = place_of(t, site->addr);
	struct caller_site *to = list_insert(&t->list, &t->count, at, sizeof(*to), NULL);

	if (!to)
		return -1;
	*to = *site;
	return 0;
}

static void table_forget(struct caller_table *t, uint64_t base, uint64_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->count; i++) {
		if (t->list[i].function - base >= size && t->list[i].addr - base >= size)
			t->list[kept++] = t->list[i];
	}
	t->count = kept;
}

void callers_text_gone(struct callers *c, uint64_t base, uint64_t size)
{
	table_forget(&c->takes, base, size);
	table_forget(&c->calls, base, size);
	table_forget(&c->jumps, base, size);
}

static const struct caller_site *site_at(const struct caller_table *t, uint64_t addr)
{
	size_t at = place_of(t, addr);

	return at < t->count && t->list[at].addr == addr ? &t->list[at] : NULL;
}

static void add_frame(struct call_chain *out, const struct caller_frame *frame)
{
	if (out->count < CALLERS_MAX)
		out->frames[out->count++] = *frame;
}

/* Returns whether the function `from` ends by a jump to the function `to`. */
static bool jumps_to(const struct callers *c, uint64_t from, uint64_t to)
{
	for (size_t i = place_of(&c->jumps, to); i < c->jumps.count && c->jumps.list[i].addr == to; i++) {
		if (c->jumps.list[i].function == from)
			return true;
	}
	return false;
}

/*
 * No call led to the function: another function ended by a jump to it, and the function took over the other function's frame.
 * Add each function that has such a jump. The caller of callers_find() finds out which of them jumped, by the activations that
 * are in progress.
 */
static void add_jumps(const struct callers *c, uint64_t function, uint64_t cfa, struct call_chain *out)
{
	for (size_t i = place_of(&c->jumps, function); i < c->jumps.count && c->jumps.list[i].addr == function; i++)
		add_frame(out, &(struct caller_frame){.function = c->jumps.list[i].function, .cfa = cfa, .jumped = function});
}

void callers_find(const struct callers *c, const struct guest *guest, uint64_t pc, uint64_t rsp, struct call_chain *out)
{
	const struct caller_site *site = site_at(&c->takes, pc);
	uint64_t function, cfa, back;

	*out = (struct call_chain){0};
	if (!site)
		return;
	out->function = function = site->function;
	cfa = rsp + site->frame;
	while (out->count < CALLERS_MAX) {
		if (guest_read(guest, cfa - sizeof(back), &back, sizeof(back)))
			return;
		site = site_at(&c->calls, back);
		if (site && site->target != function && jumps_to(c, site->target, function)) {
			add_frame(out, &(struct caller_frame){.function = site->target, .cfa = cfa});
			function = site->target;
		}
		if (!site || site->target != function) {
			add_jumps(c, function, cfa, out);
			return;
		}
		cfa += site->frame;
		function = site->function;
		add_frame(out, &(struct caller_frame){.function = function, .cfa = cfa, .decides = site->decides});
	}
}
