/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The other races of a record, as a rule asks for them. A flag may hand data over rightly only if the data were never seen
 * racing, and an index has one writer only if no second one was seen.
 */
#ifndef OUTRIDER_PRUNER_COMPANY_H
#define OUTRIDER_PRUNER_COMPANY_H

#include "hv/race/race.h"

struct company;

/* The `count` races must outlive the company. Returns NULL when memory ran out. */
struct company *company_new(struct race *const *races, size_t count);

/* `c` may be NULL. */
void company_free(struct company *c);

/*
 * Call each(ctx, race, which) for each side of a race that is in the function of `side`. `c` may be NULL, and is then without
 * races.
 */
void company_of_function(const struct company *c, const struct race_side *side,
			 void (*each)(void *ctx, const struct race *race, unsigned which), void *ctx);

/*
 * Call each(ctx, race) for each race whose first instance was at the GVA `gva`, in the same run as that of `race`, and which is
 * not `race`. `c` may be NULL.
 */
void company_at(const struct company *c, const struct race *race, uint64_t gva,
		void (*each)(void *ctx, const struct race *other), void *ctx);

#endif
