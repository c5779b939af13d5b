/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of all units, made of their headers. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_INDEX_H
#define OUTRIDER_SYMBOLS_DWARF_INDEX_H

#include "symbols/dwarf/state.h"

/* Read all units' headers into di->heads, at the first call only. -1 with the error set, also when the file has no unit. */
int di_index(struct debuginfo *di);

/* The header of the unit that the place `offset` is in. NULL, without an error, when it is in no unit. */
struct di_head *di_head_at(struct debuginfo *di, uint64_t offset);

/* The type unit with a signature. NULL with the error set when there is none. */
const struct di_head *di_type_unit(struct debuginfo *di, uint64_t signature);

#endif
