/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The other races of a report, in two sorted lists. Some rules need them: a flag hands data over only if no race shows the
 * data in conflict, and an index has one writer only if no race shows a second writer.
 */
#ifndef OUTRIDER_PRUNER_PATTERNS_RELATED_H
#define OUTRIDER_PRUNER_PATTERNS_RELATED_H

#include "hv/race/race.h"

struct related;

/*
 * Index `count` races, which must outlive the result. The caller gives the result to related_free(). Returns NULL when memory
 * ran out.
 */
struct related *related_new(struct race *const *races, size_t count);

/* Free the index. `c` may be NULL. */
void related_free(struct related *c);

/*
 * Call each(ctx, race, which) for each indexed side that is an access by a vCPU in the same function and module as `side`.
 * `race` is the race of the indexed side. `side` itself is not left out if its race is indexed. If `c` is NULL, each() is not
 * called.
 */
void related_of_function(const struct related *c, const struct race_side *side,
			 void (*each)(void *ctx, const struct race *race, unsigned which), void *ctx);

/*
 * Find the sides that, in the first instance of their race, were an access by a vCPU at the GVA `gva` in the run of `race`.
 * Call each(ctx, other) for each such side, with the side's race as `other`. If both sides of a race were at this GVA, each()
 * is called twice for the race. `race` itself is left out. If `c` is NULL, each() is not called.
 */
void related_at(const struct related *c, const struct race *race, uint64_t gva,
		void (*each)(void *ctx, const struct race *other), void *ctx);

#endif
