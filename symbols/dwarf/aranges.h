/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From an address of code to its unit. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_ARANGES_H
#define OUTRIDER_SYMBOLS_DWARF_ARANGES_H

#include "symbols/dwarf/state.h"

/*
 * The unit with code at link address `pc`, as .debug_aranges says or, when that section does not know the address, as the
 * units' own ranges say. NULL: there is no such unit, or the error is set.
 */
struct di_unit *di_unit_of_code(struct debuginfo *di, uint64_t pc);

#endif
