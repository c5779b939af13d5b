/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line tables of units, read from .debug_line on first use. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_LINES_H
#define OUTRIDER_SYMBOLS_DWARF_LINES_H

#include "symbols/dwarf/line_table.h"

/* Returns the unit's line table, which is empty if the unit has no line table; or NULL with the error set. */
const struct di_lines *di_lines(struct di_unit *u);

/*
 * Returns the path of file number `file` of the line table, with its directory. The string lives as long as the debuginfo.
 * Returns NULL if there is no such file, or with the error set.
 */
const char *di_lines_path(struct di_unit *u, const struct di_lines *lines, uint64_t file);

#endif
