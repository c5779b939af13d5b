/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types: what a type is behind its names, how large it is, and how C writes it. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_TYPE_H
#define OUTRIDER_SYMBOLS_DWARF_TYPE_H

#include "symbols/dwarf/state.h"

struct di_type {
	uint64_t where;	 /* Place of the type's DIE. 0: void. */
	Dwarf_Half tag;	 /* DW_TAG_*. 0: void. */
	uint64_t target; /* Place of the type of the elements, pointed to, or returned. 0: void, or there is none. */
	uint64_t size;	 /* Bytes. 0: not known (void, a function, an incomplete type, a flexible array). */
	bool incomplete; /* The type is only declared. */
};

#define DI_MAX_DIMENSIONS 8

struct di_dimensions {
	uint64_t count[DI_MAX_DIMENSIONS]; /* Elements of each dimension. 0: no bound is given. */
	unsigned n;			   /* Dimensions. */
};

/* The type at the place `where`, without its typedefs and qualifiers. -1 with the error set. */
int di_type(struct debuginfo *di, uint64_t where, struct di_type *out);

/* The dimensions of the array type at the place `where`. -1 with the error set. */
int di_dimensions(struct debuginfo *di, uint64_t where, struct di_dimensions *out);

/*
 * The type as C writes it: "struct inode *", "unsigned int[4]", "u32". The text is cut off at `size` bytes, its end included.
 */
void di_type_name(struct debuginfo *di, uint64_t where, char *buf, size_t size);

#endif
