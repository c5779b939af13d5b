/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads DIEs: their attributes, their places, their children, and attributes inherited from other DIEs. A DIE's place is its
 * offset in .debug_info, or in .debug_types (DI_IN_TYPES). Private to symbols/dwarf/.
 *
 * A function that returns a bool returns false if the attribute is absent. If the attribute cannot be read, the function sets
 * the error, and returns false, too. "Or with the error set" below means the same for a function that returns NULL or 0.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_DIE_H
#define OUTRIDER_SYMBOLS_DWARF_DIE_H

#include "symbols/dwarf/state.h"

/* Returns true if the DIE itself has the attribute. DIEs from which it inherits attributes are not searched. */
bool di_has(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);

/* Returns true if the DIE has the flag and it is set. */
bool di_flag(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);

/*
 * Read a constant. A signed constant is sign-extended to 64 bits. An expression or a reference counts as absent, since its
 * value is known only at run time.
 */
bool di_number(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *value);

/* Read an offset into another section, or the index of a list (DW_FORM_rnglistx, DW_FORM_loclistx). */
bool di_offset_value(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *value);

/* Read a reference to a DIE. Sets *offset to the DIE's place, or to 0 if the function returns false. */
bool di_reference(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *offset);

/*
 * Returns the string that the attribute has. The string lies in the file's sections. Returns NULL if the attribute is absent,
 * or with the error set.
 */
const char *di_string(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);

/* Returns the form of an attribute, DW_FORM_*. Returns 0 if the attribute is absent, or with the error set. */
Dwarf_Half di_form(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);

/*
 * Get the bytes of an attribute that is an expression or block. The bytes lie in the file's sections. Returns 1; 0 if the
 * attribute is absent or has another form; or -1 with the error set.
 */
int di_block(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, const uint8_t **bytes, uint64_t *length);

/*
 * Open the DIE at the place `offset`, and set *u to its unit. The caller frees *die with dwarf_dealloc_die(). Returns 0, or -1
 * with the error set.
 */
int di_die_at(struct debuginfo *di, uint64_t offset, struct di_unit **u, Dwarf_Die *die);

/* Returns the DIE's place, or 0 with the error set. */
uint64_t di_offset(struct di_unit *u, Dwarf_Die die);

/* Returns the DIE's tag (DW_TAG_*). On failure returns 0 with the error set. */
Dwarf_Half di_tag(struct di_unit *u, Dwarf_Die die);

/* Callback of di_children(), called for each child. Returns 0 to continue, 1 to stop, or -1 with the error set. */
typedef int (*di_child_fn)(struct di_unit *u, Dwarf_Die child, Dwarf_Half tag, void *ctx);

/*
 * Call `each` for the children of `parent`, in file order, until it returns non-zero. Each child is freed after its call.
 * Returns the last result of `each`; 0 if there are no children; or -1 with the error set if the children cannot be read.
 */
int di_children(struct di_unit *u, Dwarf_Die parent, di_child_fn each, void *ctx);

/*
 * Returns the DIE's name. If the DIE itself has no name, returns the name of its abstract origin, of its specification, or of
 * the type unit's type that its signature refers to. If `linkage` is set, prefers the linkage name. Returns NULL if there is no
 * name, or with the error set.
 */
const char *di_name(struct di_unit *u, Dwarf_Die die, bool linkage);

/* As di_reference(), but searches the abstract origin, the specification or the type unit's type, as di_name() does. */
bool di_inherited_reference(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *offset);

#endif
