/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the attributes of a DIE. Private to symbols/dwarf/.
 *
 * A function that returns a bool returns false if the attribute is absent, and also, with the error set, if it cannot be read.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_ATTRIBUTE_H
#define OUTRIDER_SYMBOLS_DWARF_ATTRIBUTE_H

#include "symbols/dwarf/state.h"

/* Returns true if the DIE itself has the attribute; origins are not searched. */
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

/* Returns a string in the file's sections. Returns NULL if the attribute is absent, or with the error set. */
const char *di_string(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);

/* Returns the form of an attribute, DW_FORM_*. Returns 0 if the attribute is absent, or with the error set. */
Dwarf_Half di_form(struct di_unit *u, Dwarf_Die die, Dwarf_Half at);

/*
 * Get the bytes of an expression or block, in the file's sections. Returns 1; 0 if the attribute is absent or has another form;
 * or -1 with the error set.
 */
int di_block(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, const uint8_t **bytes, uint64_t *length);

#endif
