/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a DIE's code is. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_DIE_RANGES_H
#define OUTRIDER_SYMBOLS_DWARF_DIE_RANGES_H

#include "symbols/dwarf/state.h"

/*
 * Append all ranges of the DIE's code to `r`, as belonging to `where`. Returns 1 when there are any, 0 when there are none, or
 * -1 with the error set.
 */
int di_die_ranges(struct di_unit *u, Dwarf_Die die, struct di_ranges *r, uint64_t where);

/* Whether link address `pc` is in the DIE's code: 1, 0, or -1 with the error set. */
int di_contains(struct di_unit *u, Dwarf_Die die, uint64_t pc);

#endif
