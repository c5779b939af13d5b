/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the attributes of a DIE. Private to symbols/dwarf/.
 *
 * A function that returns a bool returns false when the attribute is absent, and also, with the error set, when it cannot be
 * read.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_ATTRIBUTE_H
#define OUTRIDER_SYMBOLS_DWARF_ATTRIBUTE_H

#include "symbols/dwarf/state.h"

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

#endif
