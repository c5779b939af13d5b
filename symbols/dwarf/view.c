/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements libdwarf's object access interface on a struct di_file. */
#include "symbols/dwarf/view.h"

#include <string.h>

/*
 * The sections that libdwarf can read, indexed by section number minus 1: libdwarf requires section 0 to be empty. The sections
 * of range lists and location lists are left out: list.h reads them.
 */
static const char *const section_names[] = {
	".debug_info",	   ".debug_types", ".debug_abbrev",	 ".debug_str",
	".debug_line_str", ".debug_addr",  ".debug_str_offsets", ".debug_aranges",
};

#define N_SECTIONS (sizeof(section_names) / sizeof(section_names[0]))

/* Returns the name of the section that contains the visible unit. The other section with units is hidden. */
static const char *window_name(const struct di_view *v)
{
	return v->window->offset & DI_IN_TYPES ? ".debug_types" : ".debug_info";
}

/* Returns true if libdwarf can read the section. */
static bool shown(const struct di_view *v, const char *name)
{
	bool units = !strcmp(name, ".debug_info") || !strcmp(name, ".debug_types");

	return !v->window || !units || !strcmp(name, window_name(v));
}

static struct di_section *view_section(struct di_view *v, unsigned number)
{
	const char *name = number && number <= N_SECTIONS ? section_names[number - 1] : NULL;

	return name && shown(v, name) ? di_file_section(&v->di->file, name, v->di->err) : NULL;
}

static int section_info(void *ctx, Dwarf_Half number, Dwarf_Obj_Access_Section *out, int *error)
{
	struct di_view *v = ctx;
	struct di_section *s = view_section(v, number);

	*error = DW_DLE_NE;
	memset(out, 0, sizeof(*out));
	out->name = "";
	if (s) {
		out->name = s->name;
		out->type = 1; /* SHT_PROGBITS */
		out->size = v->window && !strcmp(s->name, window_name(v)) ? v->window->length : s->size;
	}
	return number <= N_SECTIONS ? DW_DLV_OK : DW_DLV_NO_ENTRY;
}

static int section_load(void *ctx, Dwarf_Half number, Dwarf_Small **bytes, int *error)
{
	struct di_view *v = ctx;
	struct di_section *s = view_section(v, number);

	*error = DW_DLE_NE;
	if (!s)
		return DW_DLV_NO_ENTRY;
	*bytes = s->bytes;
	if (v->window && !strcmp(s->name, window_name(v)))
		*bytes += v->window->offset & ~DI_IN_TYPES;
	return DW_DLV_OK;
}

static Dwarf_Endianness byte_order(void *ctx)
{
	(void)ctx;
	return DW_OBJECT_LSB;
}

static Dwarf_Small length_size(void *ctx)
{
	(void)ctx;
	return 4;
}

static Dwarf_Small pointer_size(void *ctx)
{
	(void)ctx;
	return 8;
}

static Dwarf_Unsigned section_count(void *ctx)
{
	(void)ctx;
	return N_SECTIONS + 1;
}

int di_view_open(struct di_view *view, Dwarf_Debug *dbg, Dwarf_Error *e)
{
	/* No method for relocation: di_file_section() has already relocated the sections. */
	static const Dwarf_Obj_Access_Methods methods = {
		.get_section_info = section_info,
		.get_byte_order = byte_order,
		.get_length_size = length_size,
		.get_pointer_size = pointer_size,
		.get_section_count = section_count,
		.load_section = section_load,
	};

	view->access = (Dwarf_Obj_Access_Interface){.object = view, .methods = &methods};
	return dwarf_object_init_b(&view->access, NULL, NULL, DW_GROUPNUMBER_ANY, dbg, e);
}
