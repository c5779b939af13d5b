/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a query fails. Private to symbols/dwarf/. The first error of a query stays: later ones change nothing. All of these may
 * be called only during a query (see query.h).
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_ERROR_H
#define OUTRIDER_SYMBOLS_DWARF_ERROR_H

#include "symbols/dwarf/state.h"

/*
 * Set the error to EXIT_INPUT: the unit is corrupt. `what` names the part of the unit that is wrong. `e` is libdwarf's
 * explanation, or NULL; it is freed. Returns -1.
 */
int di_corrupt(struct di_unit *u, const char *what, Dwarf_Error e);

/* Set the error to EXIT_INTERNAL: memory is out. Returns -1. */
int di_memory(struct debuginfo *di);

/*
 * Take `n` DIEs, list entries or instructions from the query's budget. Returns false with the error set to EXIT_INPUT when the
 * budget is used up: no sound file needs so much work, so its references lead in circles.
 */
bool di_spend(struct debuginfo *di, uint64_t n);

#endif
