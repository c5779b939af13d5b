/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits the number of pages of text that have sample points. */
#include "hv/detect/core/point_pages.h"

#include "hv/base/x86.h"

#define SAMPLE_PAGES_MAX 16u
/*
 * Sample points on a page that also has a hook do not count against the limit of pages. Only the first 64 such pages are
 * remembered: on any further page with a hook, sample points do count.
 */
#define HOOK_PAGES_MAX 64u

struct pages {
	uint64_t page[HOOK_PAGES_MAX];
	unsigned n;
};

static bool has(const struct pages *set, uint64_t page)
{
	for (unsigned i = 0; i < set->n; i++) {
		if (set->page[i] == page)
			return true;
	}
	return false;
}

static void add(struct pages *set, uint64_t page, unsigned room)
{
	if (set->n < room && !has(set, page))
		set->page[set->n++] = page;
}

bool point_page_free(const struct points *p, uint64_t addr, unsigned pages)
{
	const uint64_t page = addr / X86_PAGE_SIZE;
	struct pages hooks = {.n = 0}, samples = {.n = 0};

	pages = pages < SAMPLE_PAGES_MAX ? pages : SAMPLE_PAGES_MAX;
	for (uint32_t i = 0; i < p->count; i++) {
		const struct point *point = &p->slots[p->armed[i]];

		if (point->hook)
			add(&hooks, point->addr / X86_PAGE_SIZE, HOOK_PAGES_MAX);
	}
	if (has(&hooks, page))
		return true;
	for (uint32_t i = 0; i < p->count && samples.n < pages; i++) {
		const struct point *point = &p->slots[p->armed[i]];

		if (!point->hook && !has(&hooks, point->addr / X86_PAGE_SIZE))
			add(&samples, point->addr / X86_PAGE_SIZE, pages);
	}
	return samples.n < pages || has(&samples, page);
}
