/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The units of .debug_info (and DWARF 4's .debug_types), and how libdwarf sees them. Private to symbols/dwarf/.
 *
 * libdwarf keeps all that it has ever read of a file until the file is closed, and it gives up on a file at its first bad unit.
 * Therefore every unit is opened as a libdwarf file of its own: .debug_info of that file is the one unit, and its other
 * sections are those of the whole file, in place. Memory is bounded by closing units, and a corrupt unit harms no other unit.
 * The price is that references from unit to unit have to be resolved here: see di_reference() and di_die_at() of die.h.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_UNIT_H
#define OUTRIDER_SYMBOLS_DWARF_UNIT_H

#include "symbols/dwarf/state.h"

/* Units that are kept open between queries. A unit takes about 1 MiB. */
#define DI_CACHE_UNITS 24

/*
 * The open unit that contains the place `offset`, taken from the cache or opened. It stays open until the query ends. NULL with
 * the error set, also when the query has opened so many units that they must refer to each other without end.
 */
struct di_unit *di_unit_at(struct debuginfo *di, uint64_t offset);

/* Whether so many units are open that a search which may do without more of them should end. */
bool di_units_many(const struct debuginfo *di);

/* Open a unit outside of the cache; the caller closes it. NULL with the error set. */
struct di_unit *di_unit_open(struct debuginfo *di, const struct di_head *head);

/* Close a unit that is not in the cache. `u` may be NULL. */
void di_unit_close(struct di_unit *u);

/* Close the units unused for longest until the cache holds no more than DI_CACHE_UNITS. */
void di_units_trim(struct debuginfo *di);

#endif
