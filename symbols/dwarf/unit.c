/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units: opened one by one through libdwarf's object access interface, kept in a small cache. */
#include <stdlib.h>
#include <string.h>

#include "symbols/dwarf/unit.h"

/*
 * What libdwarf is shown, by section number less 1; it wants number 0 to be empty. Lists are not: see dwarf_list.h.
 */
static const char *const section_names[] = {
	".debug_info",	   ".debug_types", ".debug_abbrev",	 ".debug_str",
	".debug_line_str", ".debug_addr",  ".debug_str_offsets", ".debug_aranges",
};

#define N_SECTIONS (sizeof(section_names) / sizeof(section_names[0]))

/* The windowed section's name; of the other kind of units, nothing is shown. */
static const char *window_name(const struct di_view *v)
{
	return v->window->offset & DI_IN_TYPES ? ".debug_types" : ".debug_info";
}

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
	/* No relocating: di_file_section() has done it where there is any to do. */
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

struct di_head *di_head_at(struct debuginfo *di, uint64_t offset)
{
	size_t low = 0, high = di->n_heads;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (di->heads[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low && offset - di->heads[low - 1].offset < di->heads[low - 1].length ? &di->heads[low - 1] : NULL;
}

struct di_unit *di_unit_at(struct debuginfo *di, uint64_t offset)
{
	const struct di_head *head = di_head_at(di, offset);
	struct di_unit *u;

	if (!head) {
		err_set(di->err, EXIT_INPUT, "%s: no unit at 0x%lx of .debug_info, which is referred to: corrupt",
			di->file.path, (unsigned long)offset);
		return NULL;
	}
	for (u = di->units; u; u = u->next) {
		if (u->head == head) {
			u->used = ++di->clock;
			return u;
		}
	}
	if (di->n_units >= DI_QUERY_UNITS) {
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
