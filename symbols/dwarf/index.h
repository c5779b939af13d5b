/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Index of all units, from their headers. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_INDEX_H
#define OUTRIDER_SYMBOLS_DWARF_INDEX_H

#include "symbols/dwarf/state.h"

/*
 * Read all units' headers into di->heads. Only the first call does work. Returns 0, or -1 with the error set, also if the file
 * has no unit.
 */
int di_index(struct debuginfo *di);

/* Returns the header of the unit that contains the place `offset`, or NULL, without an error, if there is no such unit. */
struct di_head *di_head_at(struct debuginfo *di, uint64_t offset);

/* Returns the header of the type unit with this signature, or NULL with the error set if there is no such unit. */
const struct di_head *di_type_unit(struct debuginfo *di, uint64_t signature);

#endif
