/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Line tables: read once a unit, sorted, looked up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/dwarf/die.h"
#include "symbols/dwarf/line.h"

/* By address; of equal ones, the end of a sequence first: the next sequence begins there. The order of the table decides else.
 */
static int compare(const void *a, const void *b)
{
	const struct di_line *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->end != y->end)
		return x->end ? -1 : 1;
	return 0;
}

static bool sorted(const struct di_lines *lines)
{
	for (size_t i = 1; i < lines->n; i++) {
		if (compare(&lines->at[i - 1], &lines->at[i]) > 0)
			return false;
	}
	return true;
}

/* qsort() may change the order of equals, and of rows with one address the last counts: sort by position too. */
static int sort_lines(struct di_unit *u, struct di_lines *lines)
{
	struct di_line *from = lines->at, *to;

	if (sorted(lines))
		return 0;
	to = calloc(lines->n, sizeof(*to));
	if (!to)
		return di_memory(u->di);
	for (size_t width = 1; width < lines->n; width *= 2) {
		for (size_t start = 0; start < lines->n; start += 2 * width) {
			size_t a = start, middle = start + width < lines->n ? start + width : lines->n;
			size_t b = middle, end = start + 2 * width < lines->n ? start + 2 * width : lines->n;

			for (size_t i = start; i < end; i++)
				to[i] = a < middle && (b == end || compare(&from[a], &from[b]) <= 0) ? from[a++] : from[b++];
		}
		lines->at = to;
		to = from;
		from = lines->at;
	}
	free(to);
	return 0;
}

static struct di_lines *read_lines(struct di_unit *u)
{
	struct di_section *s = di_file_section(&u->di->file, ".debug_line", u->di->err);
	struct di_lines *lines = calloc(1, sizeof(*lines));
	struct di_line_code code;
	struct di_cursor c;
	uint64_t at;
	int status = 0;

	if (!lines) {
		di_memory(u->di);
		return NULL;
	}
	lines->comp_dir = di_string(u, u->cu, DW_AT_comp_dir);
	if (s && di_offset_value(u, u->cu, DW_AT_stmt_list, &at)) {
		c = (struct di_cursor){.bytes = s->bytes, .at = at < s->size ? at : s->size, .end = s->size};
		status = di_line_header(u, &c, &code, lines) || di_line_run(u, &c, &code, lines) || sort_lines(u, lines);
	}
	if (status || u->di->err->code != EXIT_OK) {
		di_lines_free(lines);
		return NULL;
	}
	return lines;
}

const struct di_lines *di_lines(struct di_unit *u)
{
	if (!u->lines)
		u->lines = read_lines(u);
	return u->lines;
}

void di_lines_free(struct di_lines *lines)
{
	if (lines) {
		free(lines->at);
		free(lines->files);
	}
	free(lines);
}

const struct di_line *di_lines_at(const struct di_lines *lines, uint64_t pc)
{
	size_t low = 0, high = lines->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lines->at[middle].addr <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low && !lines->at[low - 1].end ? &lines->at[low - 1] : NULL;
}

const char *di_lines_path(struct di_unit *u, const struct di_lines *lines, uint64_t file)
{
	const struct di_source *s;
	char path[4096];

	if (file >= lines->n_files)
		return NULL;
	s = &lines->files[file];
	if (!s->name)
		return NULL;
	if (*s->name == '/' || !s->dir || !*s->dir)
		return di_string_keep(u->di, s->name);
	snprintf(path, sizeof(path), "%s/%s", s->dir, s->name);
	return di_string_keep(u->di, path);
}
