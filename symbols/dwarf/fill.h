/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filling in a struct debuginfo_datum. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_FILL_H
#define OUTRIDER_SYMBOLS_DWARF_FILL_H

#include "symbols/dwarf/state.h"

/* An object that is accessed: a variable, or an object that a variable points to. */
struct di_pointee {
	const char *variable; /* Name of the variable. */
	const char *function; /* The function that the variable is local to. NULL: none. */
	const char *text;     /* How the variable or pointer is written in a path. NULL: by its name. */
	bool by_pointer;      /* The object is what the variable points to. */
	uint64_t type;	      /* Place of the object's type. */
	uint64_t index;	      /* By a pointer: which of several objects in a row it is, counted from 0. */
	uint64_t offset;      /* Bytes from the object's beginning to the access. */
};

/*
 * Find the member of `to` that an access of `size` bytes is to, and fill in all of `out` but `start`, which becomes 0. -1 with
 * the error set.
 */
int di_fill_datum(struct debuginfo *di, const struct di_pointee *to, uint64_t size, struct debuginfo_datum *out);

#endif
