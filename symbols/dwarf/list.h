/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads range lists and location lists, of DWARF 5 (sections 7.25 and 7.29: .debug_rnglists and .debug_loclists) and of earlier
 * versions (.debug_ranges and .debug_loc). Private to symbols/dwarf/.
 *
 * libdwarf is not used here for two reasons. On a corrupt section, the libdwarf of Debian 12 frees memory twice. And before the
 * first list, libdwarf reads the headers of all lists in the file.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_LIST_H
#define OUTRIDER_SYMBOLS_DWARF_LIST_H

#include "symbols/dwarf/cursor.h"
#include "symbols/dwarf/state.h"

/* A list being read. */
struct di_list {
	struct di_unit *u;
	struct di_cursor c;
	bool locations; /* A location list; otherwise a range list. */
	uint64_t base;	/* The link address to which offsets in the list are relative. */
};

struct di_entry {
	uint64_t low, high;	   /* The entry applies to the link addresses [low, high). */
	const uint8_t *expression; /* In a location list, the location expression. */
	uint64_t length;	   /* Bytes of the expression. */
};

/*
 * Open the list that the attribute `at` of `die` refers to: DW_AT_ranges or DW_AT_location. Returns 1; 0 if the DIE has no such
 * list; or -1 with the error set.
 */
int di_list_open(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, struct di_list *list);

/* Read the next entry. Returns 1; 0 at the end of the list; or -1 with the error set. */
int di_list_next(struct di_list *list, struct di_entry *entry);

#endif
