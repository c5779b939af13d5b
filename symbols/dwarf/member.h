/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the member at an offset in a type. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_MEMBER_H
#define OUTRIDER_SYMBOLS_DWARF_MEMBER_H

#include "symbols/dwarf/state.h"

/* A path through structures, unions and arrays, and its last element, the datum. */
struct di_path {
	char text[DEBUGINFO_PATH_MAX]; /* "i_sb", "lock.owner.tail", "[3].next" */
	size_t len;		       /* Bytes of `text`, without the NUL. */
	uint64_t type;		       /* Place of the datum's type. */
	uint64_t size;		       /* Size of the datum in bytes. 0: unknown. */
	uint64_t rest;		       /* Bytes from the start of the datum to the access. */
	unsigned bit_offset, bit_size; /* As in struct debuginfo_datum. bit_size 0: the datum is not a bit-field. */
	bool several;		       /* The datum is several bit-fields together. */
	enum debuginfo_fit fit;
};

/* Append to the path's text. Text that does not fit is truncated. */
void di_path_add(struct di_path *p, const char *text);

/*
 * Descend from the type at the place `type` to the member at byte `offset` that an access of `size` bytes touches, and append
 * the path to `p`. If no member matches the access, `p` stays at the type itself. Returns 0, or -1 with the error set.
 */
int di_member(struct debuginfo *di, uint64_t type, uint64_t offset, uint64_t size, struct di_path *p);

#endif
