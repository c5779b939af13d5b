/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists the units of a debug file, and opens and closes them. The list is made by following the units' headers (section 7.5.1
 * of DWARF 5 and of DWARF 4), without reading the units' content. To open a unit, this file implements libdwarf's object access
 * interface on a struct di_file. Open units are kept in a cache.
 */
#include "symbols/dwarf/unit.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "symbols/dwarf/cursor.h"
#include "symbols/dwarf/line_table.h"

#define MAX_UNITS (1u << 20) /* at most this many units: bounds the memory that a hostile file can cost */

/* At most this many units are open during a query. If a query needs more, the units refer to each other without end. */
#define QUERY_UNITS 96

/* Read the header at c->at, and move c->at to the next header. Returns false if the header is invalid. */
static bool read_head(struct di_cursor *c, bool types, struct di_head *head)
{
	uint64_t start = c->at, end = c->end, kind = DW_UT_compile;
	size_t width;

	if (!di_enter(c, &width))
		return false;
	*head = (struct di_head){.offset = start, .length = c->end - start, .wide = width == 8};
	head->version = (uint8_t)di_take(c, 2);
	if (head->version >= 5)
		kind = di_take(c, 1);
	/* Skip the abbreviations' offset and the address size, whose order depends on the version. */
	di_skip(c, width + 1);
	if (types || kind == DW_UT_type) {
		head->signature = di_take(c, 8);
		head->type_offset = di_take(c, width);
	}
	if (c->bad || head->version < 2 || head->version > 5)
		return false;
	c->at = c->end;
	c->end = end;
	return true;
}

static int add_head(struct debuginfo *di, const struct di_head *head)
{
	struct di_head *to = NULL;

	if (di->n_heads < MAX_UNITS)
		to = list_grow(&di->heads, &di->n_heads, sizeof(*to), NULL);
	if (!to)
		return di_memory(di);
	*to = *head;
	return 0;
}

/*
 * Add the headers of all units in a section; `mark` is a bit added to their places. Stops at an invalid header: units after it
 * cannot be found, but units before it are usable.
 */
static int index_section(struct debuginfo *di, const char *name, uint64_t mark)
{
	struct di_section *s = di_file_section(&di->file, name, di->err);
	struct di_cursor c;

	if (!s)
		return di->err->code == EXIT_OK ? 0 : -1;
	c = (struct di_cursor){.bytes = s->bytes, .end = s->size};
	while (c.at < c.end) {
		struct di_head head;

		if (!read_head(&c, mark != 0, &head))
			break;
		head.offset |= mark;
		if (add_head(di, &head))
			return -1;
	}
	return 0;
}

int di_index(struct debuginfo *di)
{
	if (!di->indexed) {
		di->indexed = true;
		if (index_section(di, ".debug_info", 0) || index_section(di, ".debug_types", DI_IN_TYPES))
			return -1;
		/* Walking the headers touched a few bytes in every few pages. Drop those pages. */
		di_file_release(&di->file);
	}
	if (!di->n_heads)
		return err_set(di->err, EXIT_INPUT, "%s: .debug_info holds no unit: corrupt", di->file.path);
	return 0;
}

struct di_head *di_head_at(struct debuginfo *di, uint64_t offset)
{
	size_t n = di_bisect(di->heads, di->n_heads, sizeof(*di->heads), offset);

	return n && offset - di->heads[n - 1].offset < di->heads[n - 1].length ? &di->heads[n - 1] : NULL;
}

const struct di_head *di_type_unit(struct debuginfo *di, uint64_t signature)
{
	for (size_t i = 0; i < di->n_heads; i++) {
		if (di->heads[i].type_offset && di->heads[i].signature == signature)
			return &di->heads[i];
	}
	err_set(di->err, EXIT_INPUT, "%s: a type unit is missing: corrupt, or incomplete", di->file.path);
	return NULL;
}

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
