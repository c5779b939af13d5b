/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the lock that protects the datum of two accesses. Only protect_judge() uses this header. */
#ifndef OUTRIDER_PRUNER_LOCKS_PROTECT_CHOOSE_H
#define OUTRIDER_PRUNER_LOCKS_PROTECT_CHOOSE_H

#include "pruner/locks/protect_facts.h"

/* The accesses of a record in the order of protect_order(): `count` indices into p->accesses. */
struct protect_ordered {
	const struct protection *p;
	uint32_t *index;
	uint32_t count;
};

/*
 * Choose the lock of a suspicion, and store it in *s with the two sides, `held`, `total` and `concurrent`. at[] has the indices
 * into o->index of the two suspected accesses, which are to the same datum.
 */
void protect_choose(const struct protect_ordered *o, const uint32_t at[2], struct suspicion *s);

#endif
