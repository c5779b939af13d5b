/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Implements the functions of state.h, which all parts of symbols/dwarf/ share: they report errors, spend the query's budget,
 * and keep code ranges and strings of an open debug file.
 */
#include "symbols/dwarf/state.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"

#define MAX_RANGES (4u << 20) /* at most this many code ranges: bounds the memory that a hostile file can cost */

int di_corrupt(struct di_unit *u, const char *what, Dwarf_Error e)
{
	err_set(u->di->err, EXIT_INPUT, "%s: corrupt DWARF in the unit at 0x%lx, %s%s%.200s", u->di->file.path,
		(unsigned long)u->head->offset, what, e ? ": " : "", e ? dwarf_errmsg(e) : "");
	if (e)
		dwarf_dealloc_error(u->dbg, e);
	return -1;
}

int di_memory(struct debuginfo *di)
{
	return err_set(di->err, EXIT_INTERNAL, "%s: out of memory", di->file.path);
}

bool di_spend(struct debuginfo *di, uint64_t n)
{
	if (n <= di->budget) {
		di->budget -= n;
		return true;
	}
	di->budget = 0;
	err_set(di->err, EXIT_INPUT, "%s: the DWARF is corrupt: its references form a circle", di->file.path);
	return false;
}

int di_ranges_add(struct debuginfo *di, struct di_ranges *r, uint64_t low, uint64_t high, uint64_t where)
{
	struct di_range *to = NULL;

	if (low >= high)
		return 0;
	if (r->n < MAX_RANGES)
		to = list_grow(&r->at, &r->n, sizeof(*to), NULL);
	if (!to)
		return di_memory(di);
	*to = (struct di_range){low, high, where};
	return 0;
}

void di_ranges_free(struct di_ranges *r)
{
	free(r->at);
	*r = (struct di_ranges){0};
}

struct di_strings {
	void *root; /* Root of tsearch(3). */
};

static int compare_strings(const void *a, const void *b)
{
	return strcmp(a, b);
}

const char *di_string_keep(struct debuginfo *di, const char *s)
{
	char **node, *copy;

	if (!di->strings)
		di->strings = calloc(1, sizeof(*di->strings));
	node = di->strings ? tfind(s, &di->strings->root, compare_strings) : NULL;
	if (node)
		return *node;
	copy = strdup(s);
	node = copy && di->strings ? tsearch(copy, &di->strings->root, compare_strings) : NULL;
	if (!node) {
		free(copy);
		di_memory(di);
		return NULL;
	}
	return *node;
}

void di_strings_free(struct di_strings *s)
{
	if (s)
		tdestroy(s->root, free);
	free(s);
}
