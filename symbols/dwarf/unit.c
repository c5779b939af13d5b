/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/dwarf/unit.h"

#include <stdlib.h>

#include "symbols/dwarf/index.h"
#include "symbols/dwarf/line_table.h"
#include "symbols/dwarf/view.h"

/* Most units open during a query. If a query needs more, the units refer to each other without end. */
#define QUERY_UNITS 96

/* Read the unit's header and top DIE. */
static int read_cu(struct di_unit *u)
{
	Dwarf_Unsigned length, type_offset, next;
	Dwarf_Half version, address, width, extension, kind;
	Dwarf_Off abbrev;
	Dwarf_Sig8 signature;
	Dwarf_Error e = NULL;

	if (dwarf_next_cu_header_d(u->dbg, di_is_info(u), &length, &version, &abbrev, &address, &width, &extension, &signature,
				   &type_offset, &next, &kind, &e) != DW_DLV_OK)
		return di_corrupt(u, "its header", e);
	if (dwarf_siblingof_b(u->dbg, NULL, di_is_info(u), &u->cu, &e) != DW_DLV_OK)
		return di_corrupt(u, "its first entry", e);
	return 0;
}

struct di_unit *di_unit_open(struct debuginfo *di, const struct di_head *head)
{
	struct di_unit *u = calloc(1, sizeof(*u));
	Dwarf_Error e = NULL;

	if (!u) {
		di_memory(di);
		return NULL;
	}
	u->di = di;
	u->head = head;
	u->view = (struct di_view){.di = di, .window = head};
	if (di_view_open(&u->view, &u->dbg, &e) != DW_DLV_OK) {
		u->dbg = NULL;
		di_corrupt(u, "cannot be opened", e);
		goto out;
	}
	if (read_cu(u))
		goto out;
	di->opened++;
	return u;
out:
	di_unit_close(u);
	return NULL;
}

void di_unit_close(struct di_unit *u)
{
	Dwarf_Error e = NULL;

	if (!u)
		return;
	if (u->cu)
		dwarf_dealloc_die(u->cu);
	if (u->dbg)
		dwarf_object_finish(u->dbg, &e);
	di_lines_free(u->lines);
	if (u->functions)
		di_ranges_free(u->functions);
	free(u->functions);
	free(u);
}

struct di_unit *di_unit_at(struct debuginfo *di, uint64_t offset)
{
	const struct di_head *head = di_head_at(di, offset);
	struct di_unit *u;

	if (!head) {
		err_set(di->err, EXIT_INPUT, "%s: a reference to 0x%lx of .debug_info, where there is no unit: corrupt",
			di->file.path, (unsigned long)offset);
		return NULL;
	}
	for (u = di->units; u; u = u->next) {
		if (u->head == head) {
			u->used = ++di->clock;
			return u;
		}
	}
	if (di->n_units >= QUERY_UNITS) {
		err_set(di->err, EXIT_INPUT, "%s: units refer to each other without end: corrupt", di->file.path);
		return NULL;
	}
	u = di_unit_open(di, head);
	if (!u)
		return NULL;
	u->used = ++di->clock;
	u->next = di->units;
	di->units = u;
	di->n_units++;
	return u;
}

bool di_units_many(const struct debuginfo *di)
{
	return di->n_units >= QUERY_UNITS / 2;
}

void di_units_trim(struct debuginfo *di)
{
	while (di->n_units > DI_CACHE_UNITS) {
		struct di_unit **oldest = &di->units, *u;

		for (struct di_unit **p = &di->units; *p; p = &(*p)->next) {
			if ((*p)->used < (*oldest)->used)
				oldest = p;
		}
		u = *oldest;
		*oldest = u->next;
		di->n_units--;
		di_unit_close(u);
	}
}
