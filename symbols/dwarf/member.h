/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the member that an access to a variable or pointee touches, and fills in a struct debuginfo_datum. Private to
 * symbols/dwarf/. member.c also has debuginfo_member(), which debuginfo.h declares.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_MEMBER_H
#define OUTRIDER_SYMBOLS_DWARF_MEMBER_H

#include "symbols/dwarf/state.h"

/* An accessed object: a variable, or an object that a variable points to. */
struct di_pointee {
	const char *variable; /* Name of the variable. */
	const char *function; /* The function of a local variable. NULL: not a local variable. */
	const char *text;     /* The text for the variable or pointer in a path. NULL: use the variable's name. */
	bool by_pointer;      /* The object is the target of the pointer `variable`. */
	uint64_t type;	      /* Place of the object's type. */
	uint64_t index;	      /* If `by_pointer`: index of the object in an array at the pointer, from 0. */
	uint64_t offset;      /* Bytes from the object's start to the access. */
};

/*
 * Find the member of `to` that an access of `size` bytes touches, and fill in *out. out->start is set to 0. Returns 0, or -1
 * with the error set.
 */
int di_fill_datum(struct debuginfo *di, const struct di_pointee *to, uint64_t size, struct debuginfo_datum *out);

#endif
