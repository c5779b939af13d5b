/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frame of every query of debuginfo.h: its error and its budget. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_QUERY_H
#define OUTRIDER_SYMBOLS_DWARF_QUERY_H

#include "symbols/dwarf/state.h"

struct di_query {
	struct err local; /* The query's error. */
	struct err *err;  /* Where the caller wants the error; may be NULL. */
};

/*
 * Begin a query: give it an empty error and a fresh budget, and close the units that earlier queries opened beyond the cache's
 * size. `q` must live until di_end(). `err` may be NULL.
 */
void di_begin(struct debuginfo *di, struct di_query *q, struct err *err);

/* End a query and hand its error to the caller of di_begin(). Returns `n`, or -1 when the error was set. */
int di_end(struct debuginfo *di, struct di_query *q, int n);

#endif
