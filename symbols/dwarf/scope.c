/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the unit, the function and the scopes that contain an address. .debug_aranges (DWARF 5 section 6.1.2) is a small
 * section that lists the addresses of most units. The section lacks units of assembler code and of some compilers. If a query
 * finds no unit in this section, di_unit_of_code() opens each unit that the section lacks, once, and adds the ranges that the
 * unit itself has.
 *
 * The code of a DIE (DWARF 5 section 2.17) is one range, or a list of ranges in .debug_rnglists (.debug_ranges before DWARF 5).
 * The functions of a unit are indexed once. The scopes inside a function are searched per query.
 */
#include "symbols/dwarf/scope.h"

#include <stdlib.h>

#include "hv/base/order.h"
#include "symbols/dwarf/die.h"
#include "symbols/dwarf/list.h"
#include "symbols/dwarf/unit.h"

/* Append the ranges of the list in DW_AT_ranges. Returns 0, or -1 with the error set. */
static int listed_ranges(struct di_unit *u, Dwarf_Die die, struct di_ranges *r, uint64_t where)
{
	struct di_entry entry;
	struct di_list list;
	int res = di_list_open(u, die, DW_AT_ranges, &list);

	while (res > 0) {
		res = di_list_next(&list, &entry);
		if (res > 0 && di_ranges_add(u->di, r, entry.low, entry.high, where))
			return -1;
	}
	return res;
}

/* Get the range of DW_AT_low_pc and DW_AT_high_pc. Returns 1; 0 if the DIE has no such range; or -1 with the error set. */
static int one_range(struct di_unit *u, Dwarf_Die die, uint64_t *low, uint64_t *high)
{
	enum Dwarf_Form_Class class;
	Dwarf_Addr from, to;
	Dwarf_Error e = NULL;
	Dwarf_Half form;
	int res = dwarf_lowpc(die, &from, &e);

	if (res == DW_DLV_OK)
		res = dwarf_highpc_b(die, &to, &form, &class, &e);
	if (res == DW_DLV_ERROR)
		return di_corrupt(u, "an entry's address", e);
	if (res == DW_DLV_NO_ENTRY)
		return 0;
	*low = from;
	*high = class == DW_FORM_CLASS_CONSTANT ? from + to : to;
	return *low < *high;
}

/*
 * Append all ranges of the DIE's code to `r`, tagged with `where`. Returns 1, or 0 if the DIE has no code, or -1 with the error
 * set.
 */
static int die_ranges(struct di_unit *u, Dwarf_Die die, struct di_ranges *r, uint64_t where)
{
	uint64_t low, high;
	size_t before = r->n;
	int one = one_range(u, die, &low, &high);

	if (one < 0)
		return -1;
	if (one && di_ranges_add(u->di, r, low, high, where))
		return -1;
	if (!one && listed_ranges(u, die, r, where))
		return -1;
	return u->di->err->code != EXIT_OK ? -1 : r->n > before;
}

/* Returns 1 if link address `pc` is in the DIE's code, 0 if it is not, or -1 with the error set. */
static int contains(struct di_unit *u, Dwarf_Die die, uint64_t pc)
{
	struct di_ranges r = {0};
	uint64_t low, high;
	int found = one_range(u, die, &low, &high);

	if (found)
		return found < 0 ? -1 : pc >= low && pc < high;
	found = die_ranges(u, die, &r, 0);
	if (found > 0) {
		found = 0;
		for (size_t i = 0; i < r.n; i++)
			found = found || (pc >= r.at[i].low && pc < r.at[i].high);
	}
	di_ranges_free(&r);
	return found;
}

static int add_arange(struct debuginfo *di, Dwarf_Debug dbg, Dwarf_Arange arange)
{
	Dwarf_Unsigned segment, segment_size, length;
	Dwarf_Error e = NULL;
	struct di_head *head;
	Dwarf_Addr start;
	Dwarf_Off where;

	/* `where` is the offset of the unit's first DIE. libdwarf does not check that such a unit exists. */
	if (dwarf_get_arange_info_b(arange, &segment, &segment_size, &start, &length, &where, &e) != DW_DLV_OK) {
		if (e)
			dwarf_dealloc_error(dbg, e);
		return 0;
	}
	head = di_head_at(di, where);
	if (!head || !length)
		return 0;
	head->in_aranges = true;
	return di_ranges_add(di, &di->addresses, start, start + length, head->offset);
}

/* Read .debug_aranges. A missing or corrupt section is no error: read_units() then reads the ranges of all units. */
static int read_aranges(struct debuginfo *di)
{
	struct di_view view = {.di = di};
	Dwarf_Arange *list = NULL;
	Dwarf_Debug dbg = NULL;
	Dwarf_Error e = NULL;
	Dwarf_Signed n = 0;
	int status = 0, res;

	res = di_view_open(&view, &dbg, &e);
	if (res == DW_DLV_OK)
		res = dwarf_get_aranges(dbg, &list, &n, &e);
	for (Dwarf_Signed i = 0; res == DW_DLV_OK && !status && i < n; i++)
		status = add_arange(di, dbg, list[i]);
	if (res == DW_DLV_ERROR && e)
		dwarf_dealloc_error(dbg, e);
	if (dbg)
		dwarf_object_finish(dbg, &e); /* frees the list too */
	return status;
}

static int range_order(const void *a, const void *b)
{
	const struct di_range *x = a, *y = b;
	int order = order_u64(x->low, y->low);

	return order ? order : order_u64(x->where, y->where);
}

static void sort_addresses(struct debuginfo *di)
{
	if (di->addresses.n)
		qsort(di->addresses.at, di->addresses.n, sizeof(*di->addresses.at), range_order);
}

/* Add the ranges of units that .debug_aranges lacks. Skips a corrupt unit. */
static int read_units(struct debuginfo *di)
{
	for (size_t i = 0; i < di->n_heads; i++) {
		struct err *err = di->err, local = {0};
		struct di_unit *u;

		if (di->heads[i].in_aranges || di->heads[i].type_offset)
			continue;
		di->err = &local;
		u = di_unit_open(di, &di->heads[i]);
		if (u)
			die_ranges(u, u->cu, &di->addresses, u->head->offset);
		di_unit_close(u);
		di->err = err;
		if (local.code == EXIT_INTERNAL)
			return err_set(err, local.code, "%s", local.text);
	}
	return 0;
}

/* Returns the place of the unit with code at link address `pc`, or UINT64_MAX if none is known. */
static uint64_t find_address(const struct debuginfo *di, uint64_t pc)
{
	const struct di_ranges *r = &di->addresses;
	size_t n = di_bisect(r->at, r->n, sizeof(*r->at), pc);

	return n && pc < r->at[n - 1].high ? r->at[n - 1].where : UINT64_MAX;
}

struct di_unit *di_unit_of_code(struct debuginfo *di, uint64_t pc)
{
	uint64_t where;

	if (di_index(di))
		return NULL;
	if (!di->have_aranges) {
		di->have_aranges = true;
		if (read_aranges(di))
			return NULL;
		sort_addresses(di);
	}
	where = find_address(di, pc);
	if (where == UINT64_MAX && !di->have_all_ranges) {
		di->have_all_ranges = true;
		if (read_units(di))
			return NULL;
		sort_addresses(di);
		where = find_address(di, pc);
	}
	return where == UINT64_MAX ? NULL : di_unit_at(di, where);
}

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

		return where && die_ranges(u, child, u->functions, where) >= 0 ? 0 : -1;
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
	int inside = may_hold_code(tag) ? contains(u, child, s->pc) : 0;

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
