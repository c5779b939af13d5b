/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/dwarf/attribute.h"

#include <string.h>

#include "symbols/dwarf/index.h"

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
	/* DWARF 3 and earlier versions encode such offsets as plain numbers. */
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
