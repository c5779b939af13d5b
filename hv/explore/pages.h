/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caches the GPAs of the pages of kernel memory that a program of the guest accesses. */
#ifndef OUTRIDER_EXPLORE_PAGES_H
#define OUTRIDER_EXPLORE_PAGES_H

#include <stdint.h>

#include "hv/replay/copy.h"

/*
 * Number of places in the cache, each for one page. All page numbers with the same remainder after division by this number
 * share one place, which has the page that was accessed last.
 */
#define PAGES_KNOWN 1024u

struct pages {
	struct {
		uint64_t gva, gpa; /* of the page's first byte; gva 0: none */
	} page[PAGES_KNOWN];
};

/* Returns the GPA of the byte at the kernel's GVA `gva`, by the page tables of this CPU, or 0 if it is not mapped to RAM. */
uint64_t pages_gpa(struct pages *p, struct copy *copy, unsigned cpu, uint64_t gva);

/* Forget all pages: the kernel may have changed its page tables. */
void pages_forget(struct pages *p);

#endif
