// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Enumerates the cells of the matrix, and finds the values that a cell takes from its parts: <machine>, and one <os>, <image>,
 * <workload> and <sampling> of the campaign file.
 */
#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/siphash.h"
#include "hv/campaign/plan/internal.h"
#include "hv/campaign/plan/plan.h"

bool plan_is_named(const struct plan_part *part, const char *name)
{
	return strcmp(part->name, name) == 0 || (plan_is_pair(part) && strcmp(part->pair.workload, name) == 0);
}

static bool is_excluded(const struct plan_cell *cell, const struct plan_exclude *e)
{
	for (size_t i = 0; i < PLAN_AXES; i++) {
		if (e->names[i].text && !plan_is_named(cell->parts[i], e->names[i].text))
			return false;
	}
	return true;
}

/*
 * Returns whether the matrix leaves out this cell because its workload is a pair of programs: exploring a pair does not sample,
 * so a pair has only the cells with the first sampling setting.
 */
static bool is_needless(const struct plan *p, const struct plan_cell *cell)
{
	return plan_is_pair(cell->parts[PLAN_WORKLOAD]) && cell->parts[PLAN_SAMPLING] != p->axes[PLAN_SAMPLING].list;
}

/* Returns cell `index` of the whole matrix. The kernel changes fastest. */
static struct plan_cell cell_at(const struct plan *p, size_t index)
{
	struct plan_cell cell;

	for (size_t i = 0; i < PLAN_AXES; i++) {
		cell.parts[i] = &p->axes[i].list[index % p->axes[i].count];
		index /= p->axes[i].count;
	}
	return cell;
}

/* Returns the number of cells before any is excluded, or 0 with err set. */
static size_t count_all(const struct plan *p, struct err *err)
{
	size_t count = 1;

	for (size_t i = 0; i < PLAN_AXES; i++) {
		count *= p->axes[i].count;
		if (count > PLAN_CELLS_MAX) {
			err_set(err, EXIT_INPUT,
				"%s:1: the matrix has more than %d cells of kernel, image, workload and sampling: expected "
				"fewer",
				p->path, PLAN_CELLS_MAX);
			return 0;
		}
	}
	return count;
}

struct plan_cell *plan_cells(const struct plan *p, size_t *count, struct err *err)
{
	size_t all = count_all(p, err);
	struct plan_cell *cells = all ? calloc(all, sizeof(*cells)) : NULL;

	*count = 0;
	if (!cells) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < all; i++) {
		struct plan_cell cell = cell_at(p, i);
		bool excluded = is_needless(p, &cell);

		for (size_t k = 0; k < p->exclude_count && !excluded; k++)
			excluded = is_excluded(&cell, &p->excludes[k]);
		if (!excluded)
			cells[(*count)++] = cell;
	}
	if (*count)
		return cells;
	err_set(err, EXIT_INPUT,
		"%s:%ld: the <exclude> elements leave no cell of the matrix: expected at least one that is left", p->path,
		p->exclude_count ? p->excludes[p->exclude_count - 1].line : 1);
	free(cells);
	return NULL;
}

const struct plan_part *plan_part_of(const struct plan *p, const struct plan_cell *cell, size_t i)
{
	return i == 0 ? &p->machine : i <= PLAN_AXES ? cell->parts[i - 1] : NULL;
}

const struct plan_value *plan_value_of(const struct plan *p, const struct plan_cell *cell, size_t member)
{
	const struct plan_value *found = NULL;
	const struct plan_part *part;

	for (size_t i = 0; (part = plan_part_of(p, cell, i)) != NULL; i++) {
		const struct plan_value *value = (const struct plan_value *)((const char *)part + member);

		if (value->text)
			found = value;
	}
	return found;
}

/*
 * Returns the name that replaces a placeholder such as {kernel} at `text`, and sets *len to the placeholder's length. Returns
 * NULL if these braces are no placeholder.
 */
static const char *name_for(const struct plan_cell *cell, const char *text, size_t *len)
{
	for (size_t i = 0; i < PLAN_AXES; i++) {
		size_t n = strlen(plan_axis_words[i]);

		if (strncmp(text + 1, plan_axis_words[i], n) != 0 || text[n + 1] != '}')
			continue;
		*len = n + 2;
		return cell->parts[i]->name;
	}
	return NULL;
}

char *plan_fill_in(const struct plan_cell *cell, const char *text)
{
	char *out = NULL;
	size_t size = 0, len;
	FILE *to = open_memstream(&out, &size);

	if (!to)
		return NULL;
	while (*text) {
		const char *name = *text == '{' && cell ? name_for(cell, text, &len) : NULL;

		if (name) {
			fputs(name, to);
			text += len;
		} else {
			fputc(*text++, to);
		}
	}
	if (fclose(to) == 0)
		return out;
	free(out);
	return NULL;
}

char *plan_file(const struct plan *p, const struct plan_cell *cell, const char *name)
{
	char *filled = plan_fill_in(cell, name), *path = NULL;

	if (!filled || filled[0] == '/' || strcmp(p->folder, ".") == 0)
		return filled;
	if (asprintf(&path, "%s/%s", p->folder, filled) < 0)
		path = NULL;
	free(filled);
	return path;
}

/* ---- selection of runs ---- */

bool plan_in_shard(const char *key, unsigned index, unsigned count)
{
	static const struct siphash_key fixed = {{0, 0}};

	return siphash(&fixed, key, strlen(key)) % count == index - 1;
}

static bool matches(const char *key, const char *pattern)
{
	char *copy, *rest, *part;
	bool found = fnmatch(pattern, key, 0) == 0;

	copy = rest = strdup(key);
	while (!found && rest && (part = strsep(&rest, "/")) != NULL)
		found = fnmatch(pattern, part, 0) == 0;
	free(copy);
	return found;
}

bool plan_is_selected(const char *key, const char *only)
{
	char *copy = strdup(only), *rest = copy, *pattern;
	bool found = false;

	while (!found && rest && (pattern = strsep(&rest, ",")) != NULL)
		found = matches(key, pattern);
	free(copy);
	return found;
}
