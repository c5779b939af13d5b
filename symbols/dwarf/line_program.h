/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes line tables: the header, then the line number program, which generates the rows. Private to symbols/dwarf/.
 *
 * libdwarf is not used here for two reasons. The libdwarf of Debian 12 starts DWARF 5 programs with file 0, but the standard
 * (section 6.2.2) and all compilers start with file 1, and a caller cannot distinguish libdwarf's 0 from a program that sets
 * file 0. Also, libdwarf needs 100 bytes per row.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_LINE_PROGRAM_H
#define OUTRIDER_SYMBOLS_DWARF_LINE_PROGRAM_H

#include "symbols/dwarf/cursor.h"
#include "symbols/dwarf/line_table.h"

/* Parameters of a line program (DWARF 5 section 6.2.4). */
struct di_line_code {
	unsigned version;
	uint64_t min_length; /* Bytes per unit of address advance. */
	uint64_t max_ops;    /* Operations per instruction; always 1 in an accepted table. */
	uint64_t line_range;
	uint64_t opcode_base;
	int64_t line_base;
	uint8_t lengths[256]; /* Number of operands of each standard opcode. */
};

/*
 * Read the header of the line table at `c` into `code`, and its file table into `lines`. Afterwards `c` covers the program
 * alone. Refuses tables for VLIW machines (several operations per instruction): the code is x86. Returns 0, or -1 with the
 * error set.
 */
int di_line_header(struct di_unit *u, struct di_cursor *c, struct di_line_code *code, struct di_lines *lines);

/* Run the program at `c` and append its rows to `lines` in program order. Returns 0, or -1 with the error set. */
int di_line_run(struct di_unit *u, struct di_cursor *c, const struct di_line_code *code, struct di_lines *lines);

#endif
