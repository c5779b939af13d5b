/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading DIEs: their attributes, their children, and the DIEs that they refer to. Private to symbols/dwarf/.
 *
 * The functions for attributes that return a bool return false when the attribute is absent, and also, with the error set, when
 * it cannot be read.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_DIE_H
#define OUTRIDER_SYMBOLS_DWARF_DIE_H

#include "symbols/dwarf/state.h"

/*
 * Open the DIE at the place `offset`. *u becomes its unit. The caller frees *die with dwarf_dealloc_die(). -1 with the error
 * set.
 */
int di_die_at(struct debuginfo *di, uint64_t offset, struct di_unit **u, Dwarf_Die *die);

/* The DIE's place. 0 with the error set. */
uint64_t di_offset(struct di_unit *u, Dwarf_Die die);

/* The DIE's tag, DW_TAG_*. 0 with the error set. */
Dwarf_Half di_tag(struct di_unit *u, Dwarf_Die die);

/* What di_children() calls for a child. It returns 0 to go on, 1 to stop, or -1 with the error set. */
typedef int (*di_child_fn)(struct di_unit *u, Dwarf_Die child, Dwarf_Half tag, void *ctx);

/*
 * Call `each` for every child of `parent`, in the order of the file, until it returns non-zero, and return that. Returns 0 when
 * no call returned non-zero, and -1 with the error set when the children cannot be read. Each child is freed after its call.
 */
int di_children(struct di_unit *u, Dwarf_Die parent, di_child_fn each, void *ctx);

/* Whether the DIE itself has the attribute. */
bool di_has(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);

/* Whether the DIE has the flag, and it is set. */
bool di_flag(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);

/*
 * A constant; a signed one is given as two's complement. An expression or a reference counts as absent, because it is a number
 * only when the program runs.
 */
bool di_number(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *value);

/* An offset into another section, or the number of a list (DW_FORM_rnglistx, DW_FORM_loclistx). */
bool di_offset_value(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *value);

/* A reference to a DIE: *offset becomes its place. *offset becomes 0 when the function returns false. */
bool di_reference(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *offset);

/* A string in the file's sections. NULL: the attribute is absent, or the error is set. */
const char *di_string(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);

/* The form of an attribute, DW_FORM_*. 0: the attribute is absent, or the error is set. */
Dwarf_Half di_form(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);

/*
 * The bytes of an expression or block, in the file's sections. Returns 1; 0 when the attribute is absent or is something else;
 * or -1 with the error set.
 */
int di_block(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, const uint8_t **bytes, uint64_t *length);

/*
 * The DIE's name. A DIE without a name has that of its abstract origin, of its specification, or of the type unit's type that
 * it stands for. With `linkage`, the linker's name is preferred. NULL: there is no name, or the error is set.
 */
const char *di_name(struct di_unit *u, Dwarf_Die die, bool linkage);

/* As di_reference(), but also of the abstract origin, of the specification, or of the type unit's type the DIE stands for. */
bool di_inherited_reference(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *offset);

#endif
