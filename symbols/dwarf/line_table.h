/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A unit's line table, decoded from .debug_line. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_LINE_TABLE_H
#define OUTRIDER_SYMBOLS_DWARF_LINE_TABLE_H

#include "symbols/dwarf/cursor.h"
#include "symbols/dwarf/state.h"

/* A row. It applies from its address up to the next row's address. */
struct di_line {
	uint64_t addr;	 /* Link address. */
	uint32_t file;	 /* File number; UINT32_MAX if the number does not fit. */
	uint32_t line;	 /* Line number. 0: the row has none, or the number does not fit. */
	uint16_t column; /* Column number. 0: the row has none, or the number does not fit. */
	bool end;	 /* `addr` is the first address after a sequence of code; the other fields have no meaning. */
};

_Static_assert(!offsetof(struct di_line, addr), "di_bisect() takes the first eight bytes for the key");

/* Name of a source file. Both strings are in the debug file's sections. */
struct di_source {
	const char *dir;  /* The directory to which `name` is relative; may be NULL. */
	const char *name; /* NULL: the name cannot be read. */
};

struct di_lines {
	struct di_line *at; /* Rows, sorted by address. */
	size_t n;
	struct di_source *files; /* Indexed by file number. */
	size_t n_files;
	const char *comp_dir; /* Working directory of the compiler. NULL: unknown. */
};

/*
 * Decode the table at `c`, and set the rows and files of `lines`, which must be empty but for `comp_dir`. Returns 0, or -1 with
 * the error set. The caller frees `lines` in both cases.
 */
int di_lines_decode(struct di_unit *u, struct di_cursor *c, struct di_lines *lines);

/* Returns the row that applies at link address `pc`, or NULL if no row does. */
const struct di_line *di_lines_at(const struct di_lines *lines, uint64_t pc);

/* Free a table. `lines` may be NULL. */
void di_lines_free(struct di_lines *lines);

#endif
