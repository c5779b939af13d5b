/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Range lists and location lists, of DWARF 5 (sections 7.25 and 7.29: .debug_rnglists and .debug_loclists) and of earlier
 * versions (.debug_ranges and .debug_loc). Private to symbols/dwarf/.
 *
 * libdwarf is not used for this. bookworm's libdwarf frees twice what it has read of a corrupt section, and before it reads the
 * first list it reads the heads of all lists in the file.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_LIST_H
#define OUTRIDER_SYMBOLS_DWARF_LIST_H

#include "symbols/dwarf/cursor.h"
#include "symbols/dwarf/state.h"

/* A list that is being read. */
struct di_list {
	struct di_unit *u;
	struct di_cursor c;
	bool locations; /* It is a location list, and not a range list. */
	uint64_t base;	/* The link address that offsets in the list are added to. */
};

struct di_entry {
	uint64_t low, high;	   /* Link addresses that the entry holds for: [low, high). */
	const uint8_t *expression; /* In a location list, the location expression. */
	uint64_t length;	   /* Bytes of the expression. */
};

/*
 * Begin to read the list that `die`'s attribute `at` refers to, which is DW_AT_ranges or DW_AT_location. Returns 1; 0 when the
 * DIE has no such list; or -1 with the error set.
 */
int di_list_open(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, struct di_list *list);

/* Read the next entry. Returns 1; 0 at the list's end; or -1 with the error set. */
int di_list_next(struct di_list *list, struct di_entry *entry);

#endif
