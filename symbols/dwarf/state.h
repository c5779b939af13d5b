/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of an open debug file: the private definition of struct debuginfo, and of what hangs on it. Private to
 * symbols/dwarf/. This header holds data only. The functions on the data are declared in the headers beside this one, which all
 * include it.
 *
 * "The error is set" in these headers means that the error of the query under way is set, which is debuginfo.err.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_STATE_H
#define OUTRIDER_SYMBOLS_DWARF_STATE_H

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>

#include "symbols/dwarf/debuginfo.h"
#include "symbols/dwarf/file.h"

/*
 * The place of a unit or a DIE is its offset in .debug_info, or its offset in .debug_types with this bit set. No DIE is at
 * place 0, because the first unit's header is there; place 0 stands for "no DIE".
 */
#define DI_IN_TYPES (1ull << 63)

/* The most levels that DIEs, chains of references and types may be nested. A file with more is taken to be corrupt. */
#define DI_MAX_DEPTH 64

/* The header of a unit. */
struct di_head {
	uint64_t offset;      /* Place of the unit, DI_IN_TYPES included. */
	uint64_t length;      /* Bytes of the whole unit, its header included. */
	uint64_t signature;   /* Signature of a type unit. 0 for any other unit. */
	uint64_t type_offset; /* Offset of a type unit's type, counted from the unit's header. 0 for any other unit. */
	uint8_t version;      /* DWARF version, 2 to 5. */
	bool wide;	      /* The unit is 64-bit DWARF: offsets in it have eight bytes. */
	bool in_aranges;      /* .debug_aranges lists addresses of this unit. */
};

/* A stretch of code and whose code it is. */
struct di_range {
	uint64_t low, high; /* Link addresses. `high` is the first address behind the stretch. */
	uint64_t where;	    /* Place of the unit or of the DIE that the code belongs to. */
};

struct di_ranges {
	struct di_range *at;
	size_t n;    /* Ranges in `at`. */
	size_t room; /* Ranges that `at` has memory for. */
};

/* A spot in .debug_info that reads like an expression that says: the variable is at this fixed address. */
struct di_candidate {
	uint64_t addr;	/* Link address that the expression gives. */
	uint64_t where; /* Offset of the expression in .debug_info. */
};

_Static_assert(!offsetof(struct di_head, offset) && !offsetof(struct di_range, low) && !offsetof(struct di_candidate, addr),
	       "di_bisect() takes the first eight bytes for the key");

/* What libdwarf is shown of the file (see view.h). */
struct di_view {
	struct debuginfo *di;
	const struct di_head *window; /* The one unit that is shown. NULL: all sections are shown whole. */
	Dwarf_Obj_Access_Interface access;
};

struct di_lines;

/* An open unit. */
struct di_unit {
	struct debuginfo *di;
	const struct di_head *head; /* Points into di->heads. */
	struct di_view view;
	Dwarf_Debug dbg;
	Dwarf_Die cu;		     /* The unit's topmost DIE. */
	struct di_lines *lines;	     /* The line table. NULL: it was not read yet. */
	struct di_ranges *functions; /* Code of the unit's functions, in the order of the file. NULL: it was not read yet. */
	uint64_t used;		     /* Value of di->clock when the unit was last asked for. */
	struct di_unit *next;	     /* The next unit of the list di->units. */
};

struct di_strings;
struct di_sweep;

struct debuginfo {
	struct di_file file;

	struct di_head *heads; /* All units, .debug_info's before .debug_types', each section's in the order of the file. */
	size_t n_heads;
	bool indexed; /* `heads` was read. */

	struct di_ranges addresses; /* Code of the units, sorted by address. */
	bool have_aranges;	    /* `addresses` has what .debug_aranges lists. */
	bool have_all_ranges;	    /* `addresses` also has what the units themselves list that .debug_aranges leaves out. */

	struct di_candidate *candidates; /* Sorted by address. */
	size_t n_candidates;
	bool have_candidates; /* `candidates` was read. */

	struct di_unit *units; /* The cache: units that are open, in no order. */
	size_t n_units;
	size_t opened;	/* Units opened since pages of the file were last given back to the kernel. */
	uint64_t clock; /* Counts the uses of units, so that the unit unused for longest is known. */

	struct di_strings *strings; /* Strings given out that are not in the file. NULL: none. */
	struct di_sweep *sweep;	    /* The function decoded last. NULL: none. */

	/* Error of the query under way. It is never NULL during a query, and NULL at all other times. */
	struct err *err;
	/* Work that the query under way may still do, counted in DIEs, list entries and instructions read. */
	uint64_t budget;
	/* Searches for a register's origins that the query under way may still make. Paths that join multiply the searches. */
	unsigned searches;
};

/* Whether the unit is in .debug_info, and not in .debug_types. */
static inline bool di_is_info(const struct di_unit *u)
{
	return !(u->head->offset & DI_IN_TYPES);
}

#endif
