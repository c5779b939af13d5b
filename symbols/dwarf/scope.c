/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of a unit are indexed once. The scopes inside a function are searched per query. */
#include "symbols/dwarf/scope.h"

#include <stdlib.h>

#include "symbols/dwarf/die.h"
#include "symbols/dwarf/die_ranges.h"

/*
 * Add the code ranges of a function to u->functions. Functions are children of the unit's top DIE, or nested in the namespaces
 * or modules of languages other than C.
 */
static int list_function(struct di_unit *u, Dwarf_Die child, Dwarf_Half tag, void *ctx)
{
	unsigned *depth = ctx;
	int res = 0;

	if (tag == DW_TAG_subprogram) {
		uint64_t where = di_offset(u, child);

		return where && di_die_ranges(u, child, u->functions, where) >= 0 ? 0 : -1;
	}
	if (tag == DW_TAG_namespace || tag == DW_TAG_module) {
		if (*depth == DI_MAX_DEPTH)
			return di_corrupt(u, "names nested without end", NULL);
		++*depth;
		res = di_children(u, child, list_function, depth);
		--*depth;
	}
	return res;
}

static int list_functions(struct di_unit *u)
{
	unsigned depth = 0;

	u->functions = calloc(1, sizeof(*u->functions));
	if (!u->functions)
		return di_memory(u->di);
	if (!di_children(u, u->cu, list_function, &depth))
		return 0;
	di_ranges_free(u->functions);
	free(u->functions);
	u->functions = NULL;
	return -1;
}

/* The search for scopes inside a function. */
struct search {
	uint64_t pc; /* Link address. */
	struct di_scopes *out;
};

/* Returns true if a DIE with this tag can be a scope with code ranges inside a function. */
static bool may_hold_code(Dwarf_Half tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

/* Record the first child that contains the PC, and descend into it. */
static int search_child(struct di_unit *u, Dwarf_Die child, Dwarf_Half tag, void *ctx)
{
	struct search *s = ctx;
	int inside = may_hold_code(tag) ? di_contains(u, child, s->pc) : 0;

	if (inside <= 0)
		return inside;
	if (s->out->n == DI_MAX_DEPTH)
		return di_corrupt(u, "blocks nested without end", NULL);
	s->out->at[s->out->n++] = (struct di_scope){di_offset(u, child), tag};
	return di_children(u, child, search_child, s) < 0 ? -1 : 1;
}

int di_scopes(struct di_unit *u, uint64_t pc, struct di_scopes *out)
{
	struct search s = {.pc = pc, .out = out};
	uint64_t where = 0;
	struct di_unit *same;
	Dwarf_Die function;
	int res;

	out->n = 0;
	if (!u->functions && list_functions(u))
		return -1;
	for (size_t i = 0; i < u->functions->n && !where; i++) {
		if (pc >= u->functions->at[i].low && pc < u->functions->at[i].high) {
			where = u->functions->at[i].where;
			out->low = u->functions->at[i].low;
			out->high = u->functions->at[i].high;
		}
	}
	if (!where)
		return 0;
	if (di_die_at(u->di, where, &same, &function))
		return -1;
	out->at[out->n++] = (struct di_scope){where, DW_TAG_subprogram};
	res = di_children(u, function, search_child, &s);
	dwarf_dealloc_die(function);
	return res < 0 ? -1 : 0;
}
