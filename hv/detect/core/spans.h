/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of ranges of text, to find whether an address is in any of them. A set of all zeros is empty. Adding and sorting
 * allocate or take long, so they are done on the sampler's thread; a lookup does neither. The caller locks.
 */
#ifndef OUTRIDER_DETECT_CORE_SPANS_H
#define OUTRIDER_DETECT_CORE_SPANS_H

#include <stddef.h>
#include <stdint.h>

/* GVAs [start, end). */
struct span {
	uint64_t start, end;
};

struct spans {
	struct span *list;
	size_t count;
	/* Sum of the sizes. */
	uint64_t bytes;
};

#define SPANS_NONE SIZE_MAX

void spans_fini(struct spans *s);

/* Append a range that overlaps no other one. spans_sort() must follow before a lookup. Returns 0, or -1 if memory runs out. */
int spans_add(struct spans *s, uint64_t start, uint64_t size);

void spans_sort(struct spans *s);

/* Returns the index of the range that contains `gva`, or SPANS_NONE. */
size_t spans_find(const struct spans *s, uint64_t gva);

#endif
