/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading DIEs: attributes, children, references, ranges. Private to symbols/dwarf*.c.
 *
 * An attribute that is absent is a false; one that cannot be read is a false with the query's error set.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_DIE_H
#define OUTRIDER_SYMBOLS_DWARF_DIE_H

#include "symbols/dwarf/unit.h"

/* The DIE at an offset of the file and its unit; to be freed with dwarf_dealloc_die(). -1 with the error set. */
int di_die_at(struct debuginfo *di, uint64_t offset, struct di_unit **u, Dwarf_Die *die);

/* Its offset in the file; 0 with the error set. */
uint64_t di_offset(struct di_unit *u, Dwarf_Die die);

/* Its tag; 0 with the error set. */
Dwarf_Half di_tag(struct di_unit *u, Dwarf_Die die);

/*
 * Call `each` for every child of `parent` until it returns non-zero, and return that: 1 to stop, -1 for an error that is set.
 * 0: none did. The child is freed after the call.
 */
typedef int (*di_child_fn)(struct di_unit *u, Dwarf_Die child, Dwarf_Half tag, void *ctx);
int di_children(struct di_unit *u, Dwarf_Die parent, di_child_fn each, void *ctx);

bool di_has(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);
bool di_flag(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);
bool di_number(struct di_unit *u, Dwarf_Die die, Dwarf_Half at,
	       uint64_t *value); /* a constant; signed ones as 2's complement */
bool di_offset_value(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *value); /* into another section */
bool di_reference(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *offset);	/* to a DIE of the file */
const char *di_string(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);			/* in the file's sections; or NULL */

/* The form that an attribute has; 0: no such attribute, or error set. */
Dwarf_Half di_form(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);

/* The bytes of an expression or block, in the file's sections. 1; 0: there is none, or it is something else; -1: error set. */
int di_block(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, const uint8_t **bytes, uint64_t *length);

/*
 * The name, own or of the DIE's abstract origin or specification, or of the type unit's type that it stands for: linker's name
 * first, if `linkage`. NULL: none, or error set.
 */
const char *di_name(struct di_unit *u, Dwarf_Die die, bool linkage);

/* A reference, own or of the abstract origin or specification. */
bool di_inherited_reference(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *offset);

/* Append all ranges of the DIE's code to `r`, marked with `where`. 1: there are any, 0: none, -1: error set. */
int di_die_ranges(struct di_unit *u, Dwarf_Die die, struct di_ranges *r, uint64_t where);

/* Whether link address `pc` is in the DIE's code: 1, 0 or -1. */
int di_contains(struct di_unit *u, Dwarf_Die die, uint64_t pc);

#endif
