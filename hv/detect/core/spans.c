// SPDX-License-Identifier: GPL-2.0-or-later
/* A sorted set of ranges of text (spans.h). */
#include "hv/detect/core/spans.h"

#include <stdlib.h>

#include "hv/base/grow.h"

void spans_fini(struct spans *s)
{
	free(s->list);
	*s = (struct spans){0};
}

int spans_add(struct spans *s, uint64_t start, uint64_t size)
{
	struct span *to = list_grow(&s->list, &s->count, sizeof(*to), NULL);

	if (!to)
		return -1;
	*to = (struct span){start, start + size};
	s->bytes += size;
	return 0;
}

static int by_start(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

void spans_sort(struct spans *s)
{
	if (s->count)
		qsort(s->list, s->count, sizeof(*s->list), by_start);
}

size_t spans_find(const struct spans *s, uint64_t gva)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->list[middle].start <= gva)
			low = middle + 1;
		else
			high = middle;
	}
	return low && gva < s->list[low - 1].end ? low - 1 : SPANS_NONE;
}
