/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of code ranges. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_RANGES_H
#define OUTRIDER_SYMBOLS_DWARF_RANGES_H

#include "symbols/dwarf/state.h"

/* Append the link addresses [low, high), which belong to `where`. An empty range is left out. -1 with the error set. */
int di_ranges_add(struct debuginfo *di, struct di_ranges *r, uint64_t low, uint64_t high, uint64_t where);

/* Free the ranges and make the list an empty one. */
void di_ranges_free(struct di_ranges *r);

#endif
