/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads DIEs: their places, their children, and attributes inherited from other DIEs. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_DIE_H
#define OUTRIDER_SYMBOLS_DWARF_DIE_H

#include "symbols/dwarf/attribute.h"
#include "symbols/dwarf/state.h"

/*
 * Open the DIE at the place `offset`, and set *u to its unit. The caller frees *die with dwarf_dealloc_die(). Returns 0, or -1
 * with the error set.
 */
int di_die_at(struct debuginfo *di, uint64_t offset, struct di_unit **u, Dwarf_Die *die);

/* Returns the DIE's place, or 0 with the error set. */
uint64_t di_offset(struct di_unit *u, Dwarf_Die die);

/* Returns the DIE's tag, DW_TAG_*, or 0 with the error set. */
Dwarf_Half di_tag(struct di_unit *u, Dwarf_Die die);

/* Callback of di_children(), called for each child. Returns 0 to continue, 1 to stop, or -1 with the error set. */
typedef int (*di_child_fn)(struct di_unit *u, Dwarf_Die child, Dwarf_Half tag, void *ctx);

/*
 * Call `each` for the children of `parent`, in file order, until it returns non-zero. Returns the last result of `each`, or 0
 * without children, or -1 with the error set if the children cannot be read. Each child is freed after its call.
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
