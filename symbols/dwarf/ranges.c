/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/dwarf/ranges.h"

#include <stdlib.h>

#include "symbols/dwarf/error.h"

#define MAX_RANGES (4u << 20) /* bounds the memory that a hostile file can cost */

int di_ranges_add(struct debuginfo *di, struct di_ranges *r, uint64_t low, uint64_t high, uint64_t where)
{
	if (low >= high)
		return 0;
	if (r->n == r->room) {
		size_t room = r->room ? r->room * 2 : 16;
		struct di_range *at = room > MAX_RANGES ? NULL : realloc(r->at, room * sizeof(*at));

		if (!at)
			return di_memory(di);
		r->at = at;
		r->room = room;
	}
	r->at[r->n++] = (struct di_range){low, high, where};
	return 0;
}

void di_ranges_free(struct di_ranges *r)
{
	free(r->at);
	*r = (struct di_ranges){0};
}
