/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading line tables. Private to symbols/dwarf_line*.c. Not through libdwarf: bookworm's begins DWARF 5 programs with file 0
 * where the standard (section 6.2.2) and all compilers say 1, which cannot be told from a real 0 afterwards, and takes 100
 * bytes for a row.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_LINE_H
#define OUTRIDER_SYMBOLS_DWARF_LINE_H

#include "symbols/dwarf/cursor.h"
#include "symbols/dwarf/unit.h"

/* How a line program is coded. */
struct di_line_code {
	unsigned version;
	uint64_t min_length, max_ops, line_range, opcode_base;
	int64_t line_base;
	uint8_t lengths[256]; /* of standard opcodes' operands, by opcode */
};

/*
 * Read the head of the line table at `c` and the file table into `lines`; `c` becomes the program. Tables for VLIW machines
 * (more than one operation an instruction) are refused: this is x86. -1 with the error set.
 */
int di_line_header(struct di_unit *u, struct di_cursor *c, struct di_line_code *code, struct di_lines *lines);

/* Run the program at `c` and add its rows to `lines`, as it makes them. -1 with the error set. */
int di_line_run(struct di_unit *u, struct di_cursor *c, const struct di_line_code *code, struct di_lines *lines);

#endif
