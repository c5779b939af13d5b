/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds assertions to a list, and frees them. assertions_read() fills the list. */
#ifndef OUTRIDER_PRUNER_LOCKS_ASSERTIONS_LIST_H
#define OUTRIDER_PRUNER_LOCKS_ASSERTIONS_LIST_H

#include "hv/race/assertion.h"

/*
 * Append *a to the list, which then owns all strings of *a. Returns 0, or -1 if memory ran out; then the caller still owns the
 * strings.
 */
int assertions_add(struct assertions *list, const struct assertion *a);

/* Free the strings and the breaks of the assertion, but not the struct itself. */
void assertion_fini(struct assertion *a);

/* Free the list and its assertions. `a` may be NULL. */
void assertions_free(struct assertions *a);

#endif
