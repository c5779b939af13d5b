/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resolves types: finds their tag, target and size, and writes their names in C syntax. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_TYPE_H
#define OUTRIDER_SYMBOLS_DWARF_TYPE_H

#include "symbols/dwarf/state.h"

struct di_type {
	uint64_t where;	 /* Place of the type's DIE. 0: void. */
	Dwarf_Half tag;	 /* DW_TAG_*. 0: void. */
	uint64_t target; /* Place of the element type, pointee type or return type. 0: void, or the type has no target. */
	uint64_t size;	 /* Bytes. 0: unknown (void, function, incomplete type, flexible array). */
	bool incomplete; /* Declared but not defined. */
};

#define DI_MAX_DIMENSIONS 8

struct di_dimensions {
	uint64_t count[DI_MAX_DIMENSIONS]; /* Elements per dimension. 0: without a bound. */
	unsigned n;			   /* Number of dimensions. */
};

/* Get the type at the place `where`, without typedefs and qualifiers. Returns 0, or -1 with the error set. */
int di_type(struct debuginfo *di, uint64_t where, struct di_type *out);

/* Get the dimensions of the array type at the place `where`. Returns 0, or -1 with the error set. */
int di_dimensions(struct debuginfo *di, uint64_t where, struct di_dimensions *out);

/*
 * Write the type's name in C syntax: "struct inode *", "unsigned int[4]", "u32". The text is truncated to `size` bytes,
 * including its NUL.
 */
void di_type_name(struct debuginfo *di, uint64_t where, char *buf, size_t size);

#endif
