/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Error handling of queries. Private to symbols/dwarf/. The first error of a query is kept, later ones are ignored. Call these
 * functions only during a query (see query.h).
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_ERROR_H
#define OUTRIDER_SYMBOLS_DWARF_ERROR_H

#include "symbols/dwarf/state.h"

/*
 * Set the error to EXIT_INPUT: the unit is corrupt. `what` names the corrupt part. `e` is libdwarf's error, which is freed, or
 * NULL. Returns -1.
 */
int di_corrupt(struct di_unit *u, const char *what, Dwarf_Error e);

/* Set the error to EXIT_INTERNAL: memory ran out. Returns -1. */
int di_memory(struct debuginfo *di);

/*
 * Deduct `n` DIEs, list entries or instructions from the query's budget. Returns false with the error set to EXIT_INPUT if the
 * budget is spent: no valid file needs that much work, so its references must form a circle.
 */
bool di_spend(struct debuginfo *di, uint64_t n);

#endif
