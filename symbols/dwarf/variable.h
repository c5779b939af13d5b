/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the variable at a data address. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_VARIABLE_H
#define OUTRIDER_SYMBOLS_DWARF_VARIABLE_H

#include "symbols/dwarf/state.h"

/*
 * debuginfo_variable_at() for use inside a query: find the variable that contains link address `link`, and the member that an
 * access of `size` bytes touches. out->start becomes the variable's run-time address, or 0 if that is not known (a section that
 * was not placed). Returns 1; 0 if there is no variable; or -1 with the error set.
 */
int di_variable_at(struct debuginfo *di, uint64_t link, uint64_t size, struct debuginfo_datum *out);

#endif
