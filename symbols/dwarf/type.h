/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types: what they are behind their names, their sizes, what to call them, and what lies at an offset. Private to
 * symbols/dwarf*.c. */
#ifndef OUTRIDER_SYMBOLS_DWARF_TYPE_H
#define OUTRIDER_SYMBOLS_DWARF_TYPE_H

#include "symbols/dwarf/die.h"

struct di_type {
	uint64_t where;	 /* DIE; 0: void */
	Dwarf_Half tag;	 /* 0 for void */
	uint64_t target; /* type of elements, or pointed to, or returned; 0: void or none */
	uint64_t size;	 /* bytes; 0: not known (void, function, incomplete, flexible array) */
	bool incomplete; /* declared only */
};

#define DI_MAX_DIMENSIONS 8

struct di_dimensions {
	uint64_t count[DI_MAX_DIMENSIONS]; /* elements; 0: no bound given */
	unsigned n;
};

/* The type at `where` without its typedefs and qualifiers. -1 with the error set. */
int di_type(struct debuginfo *di, uint64_t where, struct di_type *out);

/* An array's dimensions. -1 with the error set. */
int di_dimensions(struct debuginfo *di, uint64_t where, struct di_dimensions *out);

/* As C writes it: "struct inode *", "unsigned int[4]", "u32". Cut off at `size` bytes. */
void di_type_name(struct debuginfo *di, uint64_t where, char *buf, size_t size);

/* Where a way through structures has led. */
struct di_path {
	char text[DEBUGINFO_PATH_MAX]; /* "i_sb", "lock.owner.tail", "[3].next" */
	size_t len;
	uint64_t type;		       /* of what it names */
	uint64_t size;		       /* its bytes; 0: not known */
	uint64_t rest;		       /* offset asked for, in it */
	unsigned bit_offset, bit_size; /* bit_size 0: no bit-field */
	bool several;		       /* bit-fields, none of them named alone */
	unsigned fit;		       /* how well the access fits: 3 is it, 2 in it, 1 not or not known */
};

/* Append to the path; what does not fit is cut off. */
void di_path_add(struct di_path *p, const char *text);

/*
 * Go from `type` to the member at byte `offset` that an access of `size` bytes there is to. The way is appended to `p`, which
 * stays at `type` itself where nothing inside of it fits. -1 with the error set.
 */
int di_member(struct debuginfo *di, uint64_t type, uint64_t offset, uint64_t size, struct di_path *p);

#endif
