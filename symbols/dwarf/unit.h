/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The units of .debug_info (and DWARF 4's .debug_types), and how libdwarf reads them. Private to symbols/dwarf/.
 *
 * libdwarf keeps in memory everything it has read of a file until the file is closed, and reads nothing after the first bad
 * unit of a file. So each unit is opened as a separate libdwarf file: the .debug_info of that file is the one unit, and its
 * other sections are those of the real file. Closing a unit then frees its memory, and a corrupt unit does not affect other
 * units. The cost is that references between units must be resolved here: see di_reference() and di_die_at() in die.h.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_UNIT_H
#define OUTRIDER_SYMBOLS_DWARF_UNIT_H

#include "symbols/dwarf/state.h"

/*
 * Read all units' headers into di->heads. Only the first call does work. Returns 0, or -1 with the error set, also if the file
 * has no unit.
 */
int di_index(struct debuginfo *di);

/* Returns the header of the unit that contains the place `offset`, or NULL, without an error, if there is no such unit. */
struct di_head *di_head_at(struct debuginfo *di, uint64_t offset);

/* Returns the header of the type unit with this signature, or NULL with the error set if there is no such unit. */
const struct di_head *di_type_unit(struct debuginfo *di, uint64_t signature);

/* Units kept open between queries. A unit takes about 1 MiB. */
#define DI_CACHE_UNITS 24

/*
 * Returns the unit that contains the place `offset`, from the cache or newly opened. The unit stays open until the query ends.
 * Returns NULL with the error set, also if QUERY_UNITS (96) units are open: then units refer to each other without end.
 */
struct di_unit *di_unit_at(struct debuginfo *di, uint64_t offset);

/* Returns true if at least half of QUERY_UNITS units are open. An optional search should stop then. */
bool di_units_many(const struct debuginfo *di);

/* Open a unit outside of the cache; the caller closes it. Returns NULL with the error set. */
struct di_unit *di_unit_open(struct debuginfo *di, const struct di_head *head);

/* Close a unit that is not in the cache. `u` may be NULL. */
void di_unit_close(struct di_unit *u);

/* Close the least recently used units until the cache holds at most DI_CACHE_UNITS. */
void di_units_trim(struct debuginfo *di);

/*
 * Open libdwarf on the whole file (view->window is NULL) or on one unit. `view` must outlive `dbg`, which the caller closes
 * with dwarf_object_finish(). Returns libdwarf's status, and its error in `e` on DW_DLV_ERROR. A corrupt section may also set
 * the query's error.
 */
int di_view_open(struct di_view *view, Dwarf_Debug *dbg, Dwarf_Error *e);

#endif
