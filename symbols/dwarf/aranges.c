/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .debug_aranges (DWARF 5 section 6.1.2) is a small section that lists the addresses of most units. The section lacks units of
 * assembler code and of some compilers. If a query finds no unit there, di_unit_of_code() opens each unit that the section
 * lacks, once, and adds the ranges in the unit itself.
 */
#include "symbols/dwarf/aranges.h"

#include <stdlib.h>

#include "hv/base/order.h"
#include "symbols/dwarf/die_ranges.h"
#include "symbols/dwarf/unit.h"

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
			di_die_ranges(u, u->cu, &di->addresses, u->head->offset);
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
