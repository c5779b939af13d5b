/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From an offset in a type to the member there. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_MEMBER_H
#define OUTRIDER_SYMBOLS_DWARF_MEMBER_H

#include "symbols/dwarf/state.h"

/* A path through structures, unions and arrays, and what it leads to. */
struct di_path {
	char text[DEBUGINFO_PATH_MAX]; /* "i_sb", "lock.owner.tail", "[3].next" */
	size_t len;		       /* The length of the text, in bytes. */
	uint64_t type;		       /* Place of the type of what the path names. */
	uint64_t size;		       /* Bytes of what the path names. 0: not known. */
	uint64_t rest;		       /* Bytes from the beginning of what the path names to the access. */
	unsigned bit_offset, bit_size; /* As in struct debuginfo_datum. bit_size 0: the path names no bit-field. */
	bool several;		       /* The path names several bit-fields, and none of them alone. */
	enum debuginfo_fit fit;
};

/* Append to the path's text. What does not fit is cut off. */
void di_path_add(struct di_path *p, const char *text);

/*
 * Go from the type at the place `type` to the member at byte `offset` that an access of `size` bytes is to. The path to the
 * member is appended to `p`. When nothing inside of the type fits the access, `p` stays at the type itself. -1 with the error
 * set.
 */
int di_member(struct debuginfo *di, uint64_t type, uint64_t offset, uint64_t size, struct di_path *p);

#endif
