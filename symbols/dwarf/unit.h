/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The units of .debug_info (and DWARF 4's .debug_types), and how libdwarf sees them. Private to symbols/dwarf*.c.
 *
 * libdwarf keeps all it has ever read of a file until the file is closed, and gives up on a file at its first bad unit. Here
 * every unit is a libdwarf file of its own, whose .debug_info is that unit alone and whose other sections are the whole file's,
 * in place: memory is bounded by closing units, and a corrupt unit harms no other. The price is that references between units
 * are resolved here: di_ref(), di_die_at().
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_UNIT_H
#define OUTRIDER_SYMBOLS_DWARF_UNIT_H

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>

#include "symbols/dwarf/debuginfo.h"
#include "symbols/dwarf/file.h"

/* A DIE's place in the file, 0 being none: offset in .debug_info, or in .debug_types with this bit set. */
#define DI_IN_TYPES (1ull << 63)

#define DI_CACHE_UNITS 24 /* kept open between queries, about 1 MiB each */
#define DI_QUERY_UNITS 96 /* open at most: more, and units refer to each other without end */
#define DI_MAX_DEPTH 64	  /* of nested DIEs, of references, of types */

struct di_head {
	uint64_t offset;		 /* DI_IN_TYPES included */
	uint64_t length;		 /* whole unit, its header too */
	uint64_t signature, type_offset; /* of a type unit, else 0 */
	uint8_t version;
	bool wide; /* 64-bit DWARF: offsets are eight bytes */
	bool in_aranges;
};

struct di_range {
	uint64_t low, high; /* link addresses, high excluded */
	uint64_t where;	    /* a unit's or a DIE's offset */
};

struct di_ranges {
	struct di_range *at;
	size_t n, room;
};

struct di_line {
	uint64_t addr;
	uint32_t file, line;
	uint16_t column;
	bool end; /* one past a sequence */
};

struct di_source {
	const char *dir, *name; /* dir may be NULL; both in the file's sections */
};

struct di_lines {
	struct di_line *at;
	size_t n;
	struct di_source *files; /* by number */
	size_t n_files;
	const char *comp_dir;
};

/* A place in .debug_info where an expression says that something is at a fixed address. */
struct di_variable {
	uint64_t addr;	/* link address */
	uint64_t where; /* offset of the expression */
};

struct di_view {
	struct debuginfo *di;
	const struct di_head *window; /* NULL: sections as they are */
	Dwarf_Obj_Access_Interface access;
};

struct di_unit {
	struct debuginfo *di;
	const struct di_head *head;
	struct di_view view;
	Dwarf_Debug dbg;
	Dwarf_Die cu;
	struct di_lines *lines;	     /* NULL: not read yet */
	struct di_ranges *functions; /* in the order of the file; NULL: not read yet */
	uint64_t used;
	struct di_unit *next;
};

struct di_strings;
struct di_sweep;

struct debuginfo {
	struct di_file file;
	struct di_head *heads; /* by offset */
	size_t n_heads;
	bool indexed;
	struct di_ranges addresses; /* of units, by address */
	bool have_aranges, have_all_ranges;
	struct di_variable *variables; /* by address */
	size_t n_variables;
	bool have_variables;
	struct di_unit *units; /* open ones */
	size_t n_units;
	size_t opened; /* units, since pages were given back */
	uint64_t clock;
	struct di_strings *strings;
	struct di_sweep *sweep; /* of dwarf_origin.c; may be NULL */

	/* The query under way: its error, never NULL meanwhile, and the work it may still do, in DIEs and list entries read. */
	struct err *err;
	uint64_t budget;
	unsigned searches; /* of registers' origins that may still be made: ways that meet multiply */
};

/* Begin and end a query: `err` may be NULL. di_end() gives `n`, or -1 when an error was set. */
struct di_query {
	struct err local, *err;
};
void di_begin(struct debuginfo *di, struct di_query *q, struct err *err);
int di_end(struct debuginfo *di, struct di_query *q, int n);

/* Set the query's error; both return -1. di_corrupt() frees `e`, which may be NULL. */
int di_corrupt(struct di_unit *u, const char *what, Dwarf_Error e);
int di_memory(struct debuginfo *di);

/* Take `n` from the budget; false with the error set when it is used up: the file sends us in circles. */
bool di_spend(struct debuginfo *di, uint64_t n);

/* Read all units' headers, once. -1: there is no unit. */
int di_index(struct debuginfo *di);

/* The header of the unit that contains an offset of the file; NULL: none does. */
struct di_head *di_head_at(struct debuginfo *di, uint64_t offset);

/* The unit that contains a DIE, from the cache or opened; NULL with the error set. Stays open until the query ends. */
struct di_unit *di_unit_at(struct debuginfo *di, uint64_t offset);

/* The type unit with a signature; NULL with the error set. */
const struct di_head *di_type_unit(struct debuginfo *di, uint64_t signature);

/* Open a unit outside of the cache; NULL with the error set. */
struct di_unit *di_unit_open(struct debuginfo *di, const struct di_head *head);
void di_unit_close(struct di_unit *u);

/* libdwarf on the whole file (view->window NULL) or one unit of it. `view` must outlive it. */
int di_view_open(struct di_view *view, Dwarf_Debug *dbg, Dwarf_Error *e);

static inline bool di_is_info(const struct di_unit *u)
{
	return !(u->head->offset & DI_IN_TYPES);
}

/* The unit with code at link address `pc`, by .debug_aranges, or else by the units' own ranges; NULL: none, or error set. */
struct di_unit *di_unit_of_code(struct debuginfo *di, uint64_t pc);

int di_ranges_add(struct debuginfo *di, struct di_ranges *r, uint64_t low, uint64_t high, uint64_t where);
void di_ranges_free(struct di_ranges *r);

/* List, once, all that may be variables at fixed addresses, in di->variables. -1 with the error set. */
int di_index_variables(struct debuginfo *di);

/* The unit's line table, read on first use, and what it says of `pc`; NULL: nothing, or error set. */
const struct di_lines *di_lines(struct di_unit *u);
const struct di_line *di_lines_at(const struct di_lines *lines, uint64_t pc);
void di_lines_free(struct di_lines *lines);

/* Path of a file of the line table, kept as long as the debuginfo; NULL: no such file. */
const char *di_lines_path(struct di_unit *u, const struct di_lines *lines, uint64_t file);

/* A string that lives as long as `di`; NULL with the error set when memory is out. */
const char *di_string_keep(struct debuginfo *di, const char *s);
void di_strings_free(struct di_strings *s);

#endif
