/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that may be variables at fixed addresses. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_CANDIDATES_H
#define OUTRIDER_SYMBOLS_DWARF_CANDIDATES_H

#include "symbols/dwarf/state.h"

/*
 * List all spots of .debug_info that may be the location of a variable at a fixed address in di->candidates, at the first call
 * only. di_index() must have been called. -1 with the error set.
 */
int di_index_candidates(struct debuginfo *di);

#endif
