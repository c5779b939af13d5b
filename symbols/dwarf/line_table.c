/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/dwarf/line_table.h"

#include <stdlib.h>

static int compare_lines(const struct di_line *x, const struct di_line *y)
{
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->end != y->end)
		return x->end ? -1 : 1;
	return 0;
}

static bool sorted(const struct di_lines *lines)
{
	for (size_t i = 1; i < lines->n; i++) {
		if (compare_lines(&lines->at[i - 1], &lines->at[i]) > 0)
			return false;
	}
	return true;
}

/* Merge sort, because qsort() is not stable. */
int di_lines_sort(struct debuginfo *di, struct di_lines *lines)
{
	struct di_line *from = lines->at, *to;

	if (sorted(lines))
		return 0;
	to = calloc(lines->n, sizeof(*to));
	if (!to)
		return di_memory(di);
	for (size_t width = 1; width < lines->n; width *= 2) {
		for (size_t start = 0; start < lines->n; start += 2 * width) {
			size_t a = start, middle = start + width < lines->n ? start + width : lines->n;
			size_t b = middle, end = start + 2 * width < lines->n ? start + 2 * width : lines->n;

			for (size_t i = start; i < end; i++)
				to[i] = a < middle && (b == end || compare_lines(&from[a], &from[b]) <= 0) ? from[a++]
													   : from[b++];
		}
		lines->at = to;
		to = from;
		from = lines->at;
	}
	free(to);
	return 0;
}

const struct di_line *di_lines_at(const struct di_lines *lines, uint64_t pc)
{
	size_t n = di_bisect(lines->at, lines->n, sizeof(*lines->at), pc);

	return n && !lines->at[n - 1].end ? &lines->at[n - 1] : NULL;
}

void di_lines_free(struct di_lines *lines)
{
	if (lines) {
		free(lines->at);
		free(lines->files);
	}
	free(lines);
}
