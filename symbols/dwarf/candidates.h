/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Index of the possible variables at fixed addresses. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_CANDIDATES_H
#define OUTRIDER_SYMBOLS_DWARF_CANDIDATES_H

#include "symbols/dwarf/state.h"

/*
 * List in di->candidates all positions in .debug_info that may be the location of a variable at a fixed address. Only the first
 * call does work. di_index() must have been called. Returns 0, or -1 with the error set.
 */
int di_index_candidates(struct debuginfo *di);

#endif
