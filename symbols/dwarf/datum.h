/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filling a struct debuginfo_datum. Private to symbols/dwarf*.c. */
#ifndef OUTRIDER_SYMBOLS_DWARF_DATUM_H
#define OUTRIDER_SYMBOLS_DWARF_DATUM_H

#include "symbols/dwarf/type.h"

/* An object that is accessed: a variable, or what one points to. */
struct di_pointee {
	const char *variable, *function; /* function may be NULL */
	const char *text;		 /* how the pointer is written, if otherwise than by the variable's name; or NULL */
	bool by_pointer;		 /* the object is what the variable points to */
	uint64_t type;			 /* of the object */
	uint64_t index;			 /* which of several objects in a row, if by pointer */
	uint64_t offset;		 /* in the object */
};

/* Find the member and write all down but the object's address. -1 with the error set. */
int di_fill_datum(struct debuginfo *di, const struct di_pointee *to, uint64_t size, struct debuginfo_datum *out);

/* debuginfo_variable_at(), by link address and inside of a query; out->start is a run-time address or 0. 1, 0 or -1. */
int di_variable_at(struct debuginfo *di, uint64_t link, uint64_t size, struct debuginfo_datum *out);

#endif
