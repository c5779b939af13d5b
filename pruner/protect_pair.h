/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two accesses to one datum are suspected. Only protect_judge() uses this header. */
#ifndef OUTRIDER_PRUNER_PROTECT_PAIR_H
#define OUTRIDER_PRUNER_PROTECT_PAIR_H

#include "pruner/prune_rules.h"
#include "pruner/protect_facts.h"

enum protect_outcome {
	/* Values below PROTECT_LEFT_OUT are enum protect_left_out: suspected but for this. */
	PROTECT_FINE = PROTECT_LEFT_OUT, /* two reads, a lock in common, or no lock anywhere */
	PROTECT_SUSPECTED,
};

/* Judge two accesses to one datum. They may be the same, which stands for two tasks that make it. `rules` may be NULL. */
int protect_pair(const struct protection *p, const struct prune_rules *rules, const struct prot_access *a,
		 const struct prot_access *b);

/* Whether the operations of the two accesses were seen at the same time. */
bool protect_pair_met(const struct protection *p, const struct prot_access *a, const struct prot_access *b);

/* Whether the context of `upper` can interrupt that of `lower` where it makes its access. */
bool protect_pair_interrupts(const struct prot_access *upper, const struct prot_access *lower);

#endif
