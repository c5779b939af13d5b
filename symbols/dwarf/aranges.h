/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the unit with the code at an address. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_ARANGES_H
#define OUTRIDER_SYMBOLS_DWARF_ARANGES_H

#include "symbols/dwarf/state.h"

/*
 * Returns the unit with code at link address `pc`. Searches .debug_aranges, then the address ranges of the units that this
 * section leaves out. Returns NULL if there is no such unit, or with the error set.
 */
struct di_unit *di_unit_of_code(struct debuginfo *di, uint64_t pc);

#endif
