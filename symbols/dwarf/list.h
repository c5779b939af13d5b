/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Range and location lists, of DWARF 5 (sections 7.25 and 7.29: .debug_rnglists, .debug_loclists) and before (.debug_ranges,
 * .debug_loc). Private to symbols/dwarf*.c. Not through libdwarf: bookworm's frees twice what it read of a corrupt section, and
 * reads the heads of all lists in the file before the first one.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_LIST_H
#define OUTRIDER_SYMBOLS_DWARF_LIST_H

#include "symbols/dwarf/cursor.h"
#include "symbols/dwarf/die.h"

struct di_list {
	struct di_unit *u;
	struct di_cursor c;
	bool locations;
	uint64_t base; /* what offsets are relative to */
};

struct di_entry {
	uint64_t low, high;	   /* link addresses */
	const uint8_t *expression; /* of a location list */
	uint64_t length;
};

/* Begin to read the list that `die`'s attribute `at` (DW_AT_ranges or DW_AT_location) refers to. 1, 0: it has none, or -1. */
int di_list_open(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, struct di_list *list);

/* The next entry: 1, 0 at the end, or -1 with the error set. */
int di_list_next(struct di_list *list, struct di_entry *entry);

#endif
