/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides whether two accesses to one datum are suspected. Only protect_judge() uses this header. */
#ifndef OUTRIDER_PRUNER_LOCKS_PROTECT_PAIR_H
#define OUTRIDER_PRUNER_LOCKS_PROTECT_PAIR_H

#include "pruner/lists/prune_rules.h"
#include "pruner/locks/protect_facts.h"

enum protect_outcome {
	/* Values below PROTECT_LEFT_OUT are of enum protect_left_out: the reason why the pair is not suspected. */
	/* The accesses do not conflict, have a common lock, or both have no lock. */
	PROTECT_FINE = PROTECT_LEFT_OUT,
	PROTECT_SUSPECTED,
};

/*
 * Judge two accesses to one datum. `a` and `b` may be the same access, made by two tasks. `rules` may be NULL. Returns an enum
 * protect_outcome or enum protect_left_out.
 */
int protect_pair(const struct protection *p, const struct prune_rules *rules, const struct prot_access *a,
		 const struct prot_access *b);

/* Returns whether the operations of the two accesses were seen to run at the same time. */
bool protect_pair_concurrent(const struct protection *p, const struct prot_access *a, const struct prot_access *b);

/* Returns whether the context of `upper` can interrupt the context of `lower` at its access. */
bool protect_pair_interrupts(const struct prot_access *upper, const struct prot_access *lower);

#endif
