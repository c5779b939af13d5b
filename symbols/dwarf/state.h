/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of an open debug file: struct debuginfo and the structures that it owns. Also the small functions that every part
 * of symbols/dwarf/ needs: for the running query's error and budget (how much work the query may still do), for lists of code
 * ranges, for strings that live as long as the file, and for binary search. Private to symbols/dwarf/.
 *
 * "The error is set" in the headers of this folder means that debuginfo.err, the error of the running query, is set. The first
 * error of a query is kept, later ones are ignored. Call the functions that set the error only during a query (see query.h).
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_STATE_H
#define OUTRIDER_SYMBOLS_DWARF_STATE_H

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#include <string.h>

#include "symbols/dwarf/debuginfo.h"
#include "symbols/dwarf/file.h"

/*
 * The place of a unit or DIE is its offset in .debug_info, or its offset in .debug_types with this bit set. Place 0 means "no
 * DIE": the first unit's header is there.
 */
#define DI_IN_TYPES (1ull << 63)

/* At most this many levels of nested DIEs, types and chains of references. A file with more levels is treated as corrupt. */
#define DI_MAX_DEPTH 64

/* The header of a unit. */
struct di_head {
	uint64_t offset;      /* Place of the unit, DI_IN_TYPES included. */
	uint64_t length;      /* Bytes of the unit with its header. */
	uint64_t signature;   /* Signature of a type unit, otherwise 0. */
	uint64_t type_offset; /* Offset of a type unit's type from the unit's header, otherwise 0. */
	uint8_t version;      /* DWARF version, 2 to 5. */
	bool wide;	      /* 64-bit DWARF: offsets have eight bytes. */
	bool in_aranges;      /* .debug_aranges lists addresses of this unit. */
};

/* A range of code and its owner. */
struct di_range {
	uint64_t low, high; /* Link addresses [low, high). */
	uint64_t where;	    /* Place of the unit or DIE that owns the code. */
};

struct di_ranges {
	struct di_range *at;
	size_t n; /* Number of ranges in `at`. */
};

/* A position in .debug_info whose bytes look like the expression of a variable at a fixed address. */
struct di_candidate {
	uint64_t addr;	/* Link address in the expression. */
	uint64_t where; /* Offset of the expression in .debug_info. */
};

_Static_assert(!offsetof(struct di_head, offset) && !offsetof(struct di_range, low) && !offsetof(struct di_candidate, addr),
	       "di_bisect() takes the first eight bytes for the key");

/* The part of the file that libdwarf can read (see di_view_open() in unit.h). */
struct di_view {
	struct debuginfo *di;
	const struct di_head *window; /* The only visible unit. NULL: all sections are visible as a whole. */
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
	struct di_lines *lines;	     /* The line table. NULL: not read yet. */
	struct di_ranges *functions; /* Code ranges of the unit's functions, in file order. NULL: not read yet. */
	uint64_t used;		     /* Value of di->clock at the last use of the unit. */
	struct di_unit *next;	     /* Next in the list di->units. */
};

struct di_strings;
struct di_sweep;

struct debuginfo {
	struct di_file file;

	struct di_head *heads; /* All units, those of .debug_info before those of .debug_types, each in file order. */
	size_t n_heads;
	bool indexed; /* `heads` is filled in. */

	struct di_ranges addresses; /* Code ranges of the units, sorted by address. */
	bool have_aranges;	    /* `addresses` has the ranges from .debug_aranges. */
	bool have_all_ranges;	    /* `addresses` also has the ranges of units that .debug_aranges leaves out. */

	struct di_candidate *candidates; /* Sorted by address. */
	size_t n_candidates;
	bool have_candidates; /* `candidates` is filled in. */

	struct di_unit *units; /* Cache of open units, unordered. */
	size_t n_units;
	size_t opened;	/* Units opened since the file's pages were last dropped. */
	uint64_t clock; /* Counts uses of units, to find the least recently used unit. */

	struct di_strings *strings; /* Returned strings that are not in the file. NULL: none. */
	struct di_sweep *sweep;	    /* The last decoded function. NULL: none. */

	/* Where the running query reports its error; NULL between queries. */
	struct err *err;
	/* Work that the running query may still do, in DIEs, list entries and instructions. */
	uint64_t budget;
	/*
	 * Number of origin searches (origin.h) that the running query may still make. Without this limit, each join of paths in
	 * the code would multiply the searches.
	 */
	unsigned searches;
};

/* Returns true if the unit is in .debug_info, false if it is in .debug_types. */
static inline bool di_is_info(const struct di_unit *u)
{
	return !(u->head->offset & DI_IN_TYPES);
}

/*
 * Set the error to EXIT_INPUT: the unit is corrupt. `what` names the corrupt part. `e` is libdwarf's error, which is freed, or
 * NULL. Returns -1.
 */
int di_corrupt(struct di_unit *u, const char *what, Dwarf_Error e);

/* Set the error to EXIT_INTERNAL: memory ran out. Returns -1. */
int di_memory(struct debuginfo *di);

/*
 * Deduct `n` DIEs, list entries or instructions from the query's budget. Returns false with the error set to EXIT_INPUT if the
 * budget is spent: no valid file needs that much work, so its references must form a circle.
 */
bool di_spend(struct debuginfo *di, uint64_t n);

/*
 * Append the link addresses [low, high), tagged with `where`. An empty range is ignored. Returns 0, or -1 with the error set.
 */
int di_ranges_add(struct debuginfo *di, struct di_ranges *r, uint64_t low, uint64_t high, uint64_t where);

/* Free the ranges and empty the list. */
void di_ranges_free(struct di_ranges *r);

/*
 * Returns a copy of `s` that lives as long as `di`. Equal strings share one copy. Returns NULL with the error set if memory
 * runs out.
 */
const char *di_string_keep(struct debuginfo *di, const char *s);

/* Free `s` (debuginfo.strings) with all copies of strings that di_string_keep() has made. `s` may be NULL. */
void di_strings_free(struct di_strings *s);

/*
 * Binary search in a sorted array of `n` elements of `size` bytes. Each element begins with its key, a uint64_t. Returns how
 * many elements have a key of at most `key`.
 */
static inline size_t di_bisect(const void *array, size_t n, size_t size, uint64_t key)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t at;

		memcpy(&at, (const char *)array + middle * size, sizeof(at));
		if (at <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
