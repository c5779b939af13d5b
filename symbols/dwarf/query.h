/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Begins and ends every query of debuginfo.h: sets up where the query reports its error, and how much work the query may do
 * (its budget). Private to symbols/dwarf/. query.c also opens files.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_QUERY_H
#define OUTRIDER_SYMBOLS_DWARF_QUERY_H

#include "symbols/dwarf/state.h"

struct di_query {
	struct err local; /* Error of this query. */
	struct err *err;  /* The caller's error; may be NULL. */
};

/*
 * Begin a query: reset the error and the budget, and close units that earlier queries opened beyond the cache's size. `q` must
 * live until di_end(). `err` may be NULL.
 */
void di_begin(struct debuginfo *di, struct di_query *q, struct err *err);

/* End a query and copy its error to the caller of di_begin(). Returns `n`, or -1 if the error is set. */
int di_end(struct debuginfo *di, struct di_query *q, int n);

#endif
