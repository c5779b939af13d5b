/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of a DIE (DWARF 5 section 2.17) is one range, or a list of ranges in .debug_rnglists (.debug_ranges before DWARF 5).
 */
#include "symbols/dwarf/die_ranges.h"

#include "symbols/dwarf/list.h"

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

int di_die_ranges(struct di_unit *u, Dwarf_Die die, struct di_ranges *r, uint64_t where)
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

int di_contains(struct di_unit *u, Dwarf_Die die, uint64_t pc)
{
	struct di_ranges r = {0};
	uint64_t low, high;
	int found = one_range(u, die, &low, &high);

	if (found)
		return found < 0 ? -1 : pc >= low && pc < high;
	found = di_die_ranges(u, die, &r, 0);
	if (found > 0) {
		found = 0;
		for (size_t i = 0; i < r.n; i++)
			found = found || (pc >= r.at[i].low && pc < r.at[i].high);
	}
	di_ranges_free(&r);
	return found;
}
