/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line tables of units, read from .debug_line when they are first asked for. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_LINES_H
#define OUTRIDER_SYMBOLS_DWARF_LINES_H

#include "symbols/dwarf/line_table.h"

/* The unit's line table, which is empty when the unit has none. NULL with the error set. */
const struct di_lines *di_lines(struct di_unit *u);

/*
 * Path of file number `file` of the line table, with its directory. The string lives as long as the debuginfo. NULL: there is
 * no such file, or the error is set.
 */
const char *di_lines_path(struct di_unit *u, const struct di_lines *lines, uint64_t file);

#endif
