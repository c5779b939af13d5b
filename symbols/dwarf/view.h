/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening libdwarf on a debug file that this program has mapped itself, or on one unit of the file. Private to symbols/dwarf/.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_VIEW_H
#define OUTRIDER_SYMBOLS_DWARF_VIEW_H

#include "symbols/dwarf/state.h"

/*
 * Open libdwarf on the file (view->window is NULL) or on one unit of it. `view` must outlive `dbg`, which dwarf_object_finish()
 * ends. Returns libdwarf's status; `e` is its explanation of DW_DLV_ERROR. The query's error may be set also, by a section that
 * is corrupt.
 */
int di_view_open(struct di_view *view, Dwarf_Debug *dbg, Dwarf_Error *e);

#endif
