/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of code ranges. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_RANGES_H
#define OUTRIDER_SYMBOLS_DWARF_RANGES_H

#include "symbols/dwarf/state.h"

/*
 * Append the link addresses [low, high), tagged with `where`. An empty range is ignored. Returns 0, or -1 with the error set.
 */
int di_ranges_add(struct debuginfo *di, struct di_ranges *r, uint64_t low, uint64_t high, uint64_t where);

/* Free the ranges and empty the list. */
void di_ranges_free(struct di_ranges *r);

#endif
