/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/dwarf/error.h"

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
	err_set(di->err, EXIT_INPUT, "%s: DWARF that leads in circles: corrupt", di->file.path);
	return false;
}
