/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A unit's line table as it is kept in memory. Private to symbols/dwarf/. lines.h reads it from the file. */
#ifndef OUTRIDER_SYMBOLS_DWARF_LINE_TABLE_H
#define OUTRIDER_SYMBOLS_DWARF_LINE_TABLE_H

#include "symbols/dwarf/state.h"

/* A row: it holds from its address on, up to the next row's address. */
struct di_line {
	uint64_t addr;	 /* Link address. */
	uint32_t file;	 /* Number of the file; UINT32_MAX when the number is larger than that. */
	uint32_t line;	 /* 0: none, or a number that does not fit. */
	uint16_t column; /* 0: none, or a number that does not fit. */
	bool end;	 /* `addr` is the first address behind a sequence of code, and the row says nothing else. */
};

_Static_assert(!offsetof(struct di_line, addr), "di_bisect() takes the first eight bytes for the key");

/* A source file's name. Both strings are in the debug file's sections. */
struct di_source {
	const char *dir;  /* The directory that `name` is relative to; may be NULL. */
	const char *name; /* NULL: the file has no name that can be read. */
};

struct di_lines {
	struct di_line *at; /* Rows, sorted by address. */
	size_t n;
	struct di_source *files; /* Indexed by file number. */
	size_t n_files;
	const char *comp_dir; /* The directory that the compiler ran in. NULL: not known. */
};

/*
 * Sort the rows by address. Of rows with one address, the ends of sequences come first, because the next sequence begins there;
 * the others stay in the order of the table, because the last of them counts. -1 with the error set: memory is out.
 */
int di_lines_sort(struct debuginfo *di, struct di_lines *lines);

/* The row that holds at link address `pc`. NULL: none does. */
const struct di_line *di_lines_at(const struct di_lines *lines, uint64_t pc);

/* Free a table. `lines` may be NULL. */
void di_lines_free(struct di_lines *lines);

#endif
