/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading DIEs: where they are, their children, and what they inherit from other DIEs. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_DIE_H
#define OUTRIDER_SYMBOLS_DWARF_DIE_H

#include "symbols/dwarf/attribute.h"
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

/*
 * The DIE's name. A DIE without a name has that of its abstract origin, of its specification, or of the type unit's type that
 * it stands for. With `linkage`, the linker's name is preferred. NULL: there is no name, or the error is set.
 */
const char *di_name(struct di_unit *u, Dwarf_Die die, bool linkage);

/* As di_reference(), but also of the abstract origin, of the specification, or of the type unit's type the DIE stands for. */
bool di_inherited_reference(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, uint64_t *offset);

#endif
