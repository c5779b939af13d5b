/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoding line tables: the head, then the line number program, which makes the rows. Private to symbols/dwarf/.
 *
 * libdwarf is not used for this. bookworm's libdwarf starts DWARF 5 programs with file 0, where the standard (section 6.2.2)
 * and all compilers say file 1; afterwards this 0 cannot be told from a 0 that a program has set. It also takes 100 bytes for a
 * row.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_LINE_PROGRAM_H
#define OUTRIDER_SYMBOLS_DWARF_LINE_PROGRAM_H

#include "symbols/dwarf/cursor.h"
#include "symbols/dwarf/line_table.h"

/* How a line program is coded. DWARF 5 section 6.2.4 explains the fields. */
struct di_line_code {
	unsigned version;
	uint64_t min_length; /* Bytes that an address advance of 1 stands for. */
	uint64_t max_ops;    /* Always 1 in a table that was accepted. */
	uint64_t line_range;
	uint64_t opcode_base;
	int64_t line_base;
	uint8_t lengths[256]; /* Number of operands of each standard opcode. */
};

/*
 * Read the head of the line table at `c` into `code`, and its file table into `lines`. `c` then stands for the program alone.
 * Tables for VLIW machines (more than one operation in an instruction) are refused, because this is x86. -1 with the error set.
 */
int di_line_header(struct di_unit *u, struct di_cursor *c, struct di_line_code *code, struct di_lines *lines);

/* Run the program at `c` and append its rows to `lines`, in the order in which it makes them. -1 with the error set. */
int di_line_run(struct di_unit *u, struct di_cursor *c, const struct di_line_code *code, struct di_lines *lines);

#endif
