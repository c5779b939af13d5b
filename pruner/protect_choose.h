/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lock of two accesses was meant for their datum. Only protect_judge() uses this header. */
#ifndef OUTRIDER_PRUNER_PROTECT_CHOOSE_H
#define OUTRIDER_PRUNER_PROTECT_CHOOSE_H

#include "pruner/protect_facts.h"

/* The accesses of a record in the order of protect_order(): `count` indices. */
struct protect_ordered {
	const struct protection *p;
	uint32_t *index;
	uint32_t count;
};

/*
 * For the two accesses at these places of the order, which are to the same datum and are suspected, set the sides, the lock,
 * how often it is held, and whether both were seen at the same time.
 */
void protect_choose(const struct protect_ordered *o, const uint32_t at[2], struct suspicion *s);

#endif
