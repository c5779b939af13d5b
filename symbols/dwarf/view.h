/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens libdwarf on a debug file that is already mapped, or on one unit of it. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_VIEW_H
#define OUTRIDER_SYMBOLS_DWARF_VIEW_H

#include "symbols/dwarf/state.h"

/*
 * Open libdwarf on the whole file (view->window is NULL) or on one unit. `view` must outlive `dbg`, which the caller closes
 * with dwarf_object_finish(). Returns libdwarf's status, and its error in `e` on DW_DLV_ERROR. A corrupt section may also set
 * the query's error.
 */
int di_view_open(struct di_view *view, Dwarf_Debug *dbg, Dwarf_Error *e);

#endif
