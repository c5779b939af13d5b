/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of assertions, for the file that reads them. assertions_free() is here too. */
#ifndef OUTRIDER_PRUNER_ASSERTIONS_LIST_H
#define OUTRIDER_PRUNER_ASSERTIONS_LIST_H

#include "hv/race/assertion.h"

/* The list owns what `a` has from then on. Returns 0, or -1 when memory runs out: then the caller still owns it. */
int assertions_add(struct assertions *list, const struct assertion *a);

/* Free what the assertion has. */
void assertion_fini(struct assertion *a);

/* NULL is allowed. */
void assertions_free(struct assertions *a);

#endif
