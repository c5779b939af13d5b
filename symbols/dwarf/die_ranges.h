/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code ranges of a DIE. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_DIE_RANGES_H
#define OUTRIDER_SYMBOLS_DWARF_DIE_RANGES_H

#include "symbols/dwarf/state.h"

/*
 * Append all ranges of the DIE's code to `r`, tagged with `where`. Returns 1, or 0 if the DIE has no code, or -1 with the error
 * set.
 */
int di_die_ranges(struct di_unit *u, Dwarf_Die die, struct di_ranges *r, uint64_t where);

/* Returns 1 if link address `pc` is in the DIE's code, 0 if it is not, or -1 with the error set. */
int di_contains(struct di_unit *u, Dwarf_Die die, uint64_t pc);

#endif
