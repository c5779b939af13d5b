/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the attributes and children of DIEs by libdwarf, and follows references between DIEs (see die.h). */
#include "symbols/dwarf/die.h"

#include <string.h>

#include "symbols/dwarf/unit.h"

static bool get_attribute(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, Dwarf_Attribute *out)
{
	Dwarf_Error e = NULL;
	int res = dwarf_attr(die, at, out, &e);

	if (res == DW_DLV_ERROR)
		di_corrupt(u, "an entry's attributes", e);
	return res == DW_DLV_OK;
}

bool di_has(struct di_unit *u, Dwarf_Die die, Dwarf_Half at)
{
	Dwarf_Bool has = false;
	Dwarf_Error e = NULL;

	if (dwarf_hasattr(die, at, &has, &e) == DW_DLV_ERROR)
		di_corrupt(u, "an entry's attributes", e);
	return has;
}

bool di_flag(struct di_unit *u, Dwarf_Die die, Dwarf_Half at)
{
	Dwarf_Attribute attr;
	Dwarf_Bool set = false;
	Dwarf_Error e = NULL;

	if (!get_attribute(u, die, at, &attr))
		return false;
	if (dwarf_formflag(attr, &set, &e) != DW_DLV_OK)
		di_corrupt(u, "a flag", e);
	dwarf_dealloc_attribute(attr);
	return set;
}

bool di_number(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *value)
{
	Dwarf_Unsigned number = 0;
	Dwarf_Signed negative = 0;
	Dwarf_Attribute attr;
	Dwarf_Error e = NULL;
	Dwarf_Half form;
	bool good = false;

	if (!get_attribute(u, die, at, &attr))
		return false;
	if (dwarf_whatform(attr, &form, &e) != DW_DLV_OK) {
		di_corrupt(u, "a number", e);
		goto out;
	}
	if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
		good = dwarf_formsdata(attr, &negative, &e) == DW_DLV_OK;
		*value = (uint64_t)negative;
	} else if (form == DW_FORM_udata || form == DW_FORM_data1 || form == DW_FORM_data2 || form == DW_FORM_data4 ||
		   form == DW_FORM_data8) {
		good = dwarf_formudata(attr, &number, &e) == DW_DLV_OK;
		*value = number;
	} else {
		goto out; /* an expression or a reference */
	}
	if (!good)
		di_corrupt(u, "a number", e);
out:
	dwarf_dealloc_attribute(attr);
	return good;
}

bool di_offset_value(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *value)
{
	Dwarf_Attribute attr;
	Dwarf_Error e = NULL;
	Dwarf_Off offset = 0;
	Dwarf_Half form;
	int res;

	if (!get_attribute(u, die, at, &attr))
		return false;
	res = dwarf_whatform(attr, &form, &e);
	/*
	 * In DWARF 3 and earlier, an offset into another section has the form of a plain number, DW_FORM_data4 or
	 * DW_FORM_data8.
	 */
	if (res == DW_DLV_OK &&
	    (form == DW_FORM_data4 || form == DW_FORM_data8 || form == DW_FORM_rnglistx || form == DW_FORM_loclistx))
		res = dwarf_formudata(attr, &offset, &e);
	else if (res == DW_DLV_OK)
		res = dwarf_global_formref(attr, &offset, &e);
	if (res != DW_DLV_OK)
		di_corrupt(u, "an offset into another section", e);
	dwarf_dealloc_attribute(attr);
	*value = offset;
	return res == DW_DLV_OK;
}

Dwarf_Half di_form(struct di_unit *u, Dwarf_Die die, Dwarf_Half at)
{
	Dwarf_Attribute attr;
	Dwarf_Error e = NULL;
	Dwarf_Half form = 0;

	if (!get_attribute(u, die, at, &attr))
		return 0;
	if (dwarf_whatform(attr, &form, &e) != DW_DLV_OK)
		di_corrupt(u, "an attribute's form", e);
	dwarf_dealloc_attribute(attr);
	return form;
}

/* Returns true for a form that DWARF before version 4 uses for expressions. */
static bool is_block(Dwarf_Half form)
{
	return form == DW_FORM_block1 || form == DW_FORM_block2 || form == DW_FORM_block4 || form == DW_FORM_block;
}

int di_block(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, const uint8_t **bytes, uint64_t *length)
{
	Dwarf_Half form = di_form(u, die, at);
	Dwarf_Block *block = NULL;
	Dwarf_Unsigned len = 0;
	Dwarf_Attribute attr;
	Dwarf_Error e = NULL;
	Dwarf_Ptr at_bytes = NULL;
	int res;

	if ((form != DW_FORM_exprloc && !is_block(form)) || !get_attribute(u, die, at, &attr))
		return u->di->err->code == EXIT_OK ? 0 : -1;
	if (form == DW_FORM_exprloc) {
		res = dwarf_formexprloc(attr, &len, &at_bytes, &e);
	} else {
		res = dwarf_formblock(attr, &block, &e);
		if (res == DW_DLV_OK) {
			at_bytes = block->bl_data;
			len = block->bl_len;
			dwarf_dealloc(u->dbg, block, DW_DLA_BLOCK);
		}
	}
	dwarf_dealloc_attribute(attr);
	if (res != DW_DLV_OK)
		return di_corrupt(u, "an expression", e);
	*bytes = at_bytes;
	*length = len;
	return 1;
}

/* Returns the place of the type that a signature names, or 0 with the error set. */
static uint64_t signature_target(struct di_unit *u, Dwarf_Attribute attr)
{
	const struct di_head *head;
	Dwarf_Error e = NULL;
	Dwarf_Sig8 bytes;
	uint64_t signature;

	if (dwarf_formsig8(attr, &bytes, &e) != DW_DLV_OK) {
		di_corrupt(u, "a type signature", e);
		return 0;
	}
	memcpy(&signature, &bytes, sizeof(signature));
	head = di_type_unit(u->di, signature);
	if (head && head->type_offset < head->length)
		return head->offset + head->type_offset;
	if (head)
		di_corrupt(u, "a type unit's offset", NULL);
	return 0;
}

bool di_reference(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Error e = NULL;
	Dwarf_Off target;
	Dwarf_Half form;

	*offset = 0;
	if (!get_attribute(u, die, at, &attr))
		return false;
	if (dwarf_whatform(attr, &form, &e) != DW_DLV_OK)
		di_corrupt(u, "a reference", e);
	else if (form == DW_FORM_ref_sig8)
		*offset = signature_target(u, attr);
	else if (dwarf_global_formref(attr, &target, &e) != DW_DLV_OK)
		di_corrupt(u, "a reference", e);
	else if (form == DW_FORM_ref_addr)
		*offset = target & ~DI_IN_TYPES; /* DW_FORM_ref_addr always refers to .debug_info */
	else if (form == DW_FORM_ref1 || form == DW_FORM_ref2 || form == DW_FORM_ref4 || form == DW_FORM_ref8 ||
		 form == DW_FORM_ref_udata)
		*offset = u->head->offset + target;
	dwarf_dealloc_attribute(attr);
	return *offset != 0;
}

const char *di_string(struct di_unit *u, Dwarf_Die die, Dwarf_Half at)
{
	Dwarf_Attribute attr;
	Dwarf_Error e = NULL;
	char *s = NULL;

	if (!get_attribute(u, die, at, &attr))
		return NULL;
	if (dwarf_formstring(attr, &s, &e) != DW_DLV_OK) {
		di_corrupt(u, "a string", e);
		s = NULL;
	}
	dwarf_dealloc_attribute(attr);
	return s;
}

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
 * that its signature names. Returns 1 and sets *u and *die, and the caller frees both the old and the new DIE; returns 0 if
 * there is no such DIE, or -1 with the error set.
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
