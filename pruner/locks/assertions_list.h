/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of assertions, as the file's reader fills it. assertions_free() is here too. */
#ifndef OUTRIDER_PRUNER_LOCKS_ASSERTIONS_LIST_H
#define OUTRIDER_PRUNER_LOCKS_ASSERTIONS_LIST_H

#include "hv/race/assertion.h"

/*
 * Append *a to the list, which then owns all strings of *a. Returns 0, or -1 when memory ran out; then the caller still owns
 * them.
 */
int assertions_add(struct assertions *list, const struct assertion *a);

/* Free the strings and the breaks of the assertion, but not the struct itself. */
void assertion_fini(struct assertion *a);

/* Free the list and its assertions. `a` may be NULL. */
void assertions_free(struct assertions *a);

#endif
