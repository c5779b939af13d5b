/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/dwarf/die.h"

#include "symbols/dwarf/unit.h"

int di_die_at(struct debuginfo *di, uint64_t offset, struct di_unit **u, Dwarf_Die *die)
{
	Dwarf_Error e = NULL;

	*u = di_unit_at(di, offset);
	if (!*u || !di_spend(di, 1))
		return -1;
	if (dwarf_offdie_b((*u)->dbg, offset - (*u)->head->offset, di_is_info(*u), die, &e) != DW_DLV_OK)
		return di_corrupt(*u, "a reference to no entry", e);
	return 0;
}

uint64_t di_offset(struct di_unit *u, Dwarf_Die die)
{
	Dwarf_Error e = NULL;
	Dwarf_Off offset;

	if (dwarf_dieoffset(die, &offset, &e) == DW_DLV_OK)
		return u->head->offset + offset;
	di_corrupt(u, "an entry", e);
	return 0;
}

Dwarf_Half di_tag(struct di_unit *u, Dwarf_Die die)
{
	Dwarf_Error e = NULL;
	Dwarf_Half tag;

	if (dwarf_tag(die, &tag, &e) == DW_DLV_OK && tag)
		return tag;
	di_corrupt(u, "an entry's tag", e);
	return 0;
}

/*
 * Get the DIE after `child` on the same level. Returns 1; 0 if `child` is the last; or -1 with the error set. A DW_AT_sibling
 * that points backwards is an error, since it would form a circle.
 */
static int next_sibling(struct di_unit *u, Dwarf_Die child, Dwarf_Die *next)
{
	Dwarf_Error e = NULL;
	int res = dwarf_siblingof_b(u->dbg, child, di_is_info(u), next, &e);

	if (res == DW_DLV_ERROR)
		return di_corrupt(u, "an entry's siblings", e);
	if (res == DW_DLV_NO_ENTRY)
		return 0;
	if (di_offset(u, *next) > di_offset(u, child))
		return 1;
	dwarf_dealloc_die(*next);
	return di_corrupt(u, "siblings that lead in circles", NULL);
}

int di_children(struct di_unit *u, Dwarf_Die parent, di_child_fn each, void *ctx)
{
	Dwarf_Die child, next = NULL;
	Dwarf_Error e = NULL;
	int res = dwarf_child(parent, &child, &e), more;

	if (res != DW_DLV_OK)
		return res == DW_DLV_ERROR ? di_corrupt(u, "an entry's children", e) : 0;
	do {
		Dwarf_Half tag = di_tag(u, child);

		res = tag && di_spend(u->di, 1) ? each(u, child, tag, ctx) : -1;
		more = res ? 0 : next_sibling(u, child, &next);
		dwarf_dealloc_die(child);
		child = next;
	} while (more > 0);
	return more < 0 ? -1 : res;
}

/*
 * Replace *die by the DIE that it inherits attributes from: its abstract origin, its specification, or the type unit's type
 * that its signature names. Returns 1 with *u and *die changed, and the caller frees *die; 0 if there is no such DIE; or -1
 * with the error set.
 */
static int next_origin(struct di_unit **u, Dwarf_Die *die)
{
	uint64_t offset;

	if (!di_reference(*u, *die, DW_AT_abstract_origin, &offset) && !di_reference(*u, *die, DW_AT_specification, &offset) &&
	    !di_reference(*u, *die, DW_AT_signature, &offset))
		return (*u)->di->err->code == EXIT_OK ? 0 : -1;
	return di_die_at((*u)->di, offset, u, die) ? -1 : 1;
}

/* Call `get` on the DIE and then on the DIEs that it inherits from, until a call returns true. */
static bool search_origins(struct di_unit *u, Dwarf_Die die, bool (*get)(struct di_unit *, Dwarf_Die, void *), void *ctx)
{
	Dwarf_Die at = die;
	bool found = false;
	int res = 1;

	for (unsigned depth = 0; res == 1 && depth < DI_MAX_DEPTH; depth++) {
		Dwarf_Die from = at;

		found = get(u, from, ctx);
		res = found ? 0 : next_origin(&u, &at);
		if (from != die)
			dwarf_dealloc_die(from);
	}
	if (res == 1) {
		if (at != die)
			dwarf_dealloc_die(at);
		di_corrupt(u, "origins that lead in circles", NULL);
	}
	return found;
}

struct name_query {
	bool linkage;
	const char *name;
};

static bool get_name(struct di_unit *u, Dwarf_Die die, void *ctx)
{
	struct name_query *q = ctx;

	if (q->linkage) {
		q->name = di_string(u, die, DW_AT_linkage_name);
		if (!q->name)
			q->name = di_string(u, die, DW_AT_MIPS_linkage_name);
	}
	if (!q->name)
		q->name = di_string(u, die, DW_AT_name);
	return q->name != NULL;
}

const char *di_name(struct di_unit *u, Dwarf_Die die, bool linkage)
{
	struct name_query q = {.linkage = linkage};

	return search_origins(u, die, get_name, &q) ? q.name : NULL;
}

struct reference_query {
	Dwarf_Half at;
	uint64_t *offset;
};

static bool get_reference(struct di_unit *u, Dwarf_Die die, void *ctx)
{
	struct reference_query *q = ctx;

	return di_reference(u, die, q->at, q->offset);
}

bool di_inherited_reference(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *offset)
{
	struct reference_query q = {.at = at, .offset = offset};

	return search_origins(u, die, get_reference, &q);
}
