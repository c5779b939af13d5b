/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions that do in two critical sections what must be one step: every access holds the lock, but a section of another
 * context can come in between, and see or change a state that is not complete. The suspected interleavings are those of AVIO
 * (Lu et al., ASPLOS'06). MUVI (Lu et al., SOSP'07) had the idea that several data can belong together. docs/atomicity.md says
 * which correct code looks the same, and how it is told apart.
 *
 * Pure functions over the record. Only protect_judge() and tests use this header.
 */
#ifndef OUTRIDER_PRUNER_LOCKS_ATOMICITY_H
#define OUTRIDER_PRUNER_LOCKS_ATOMICITY_H

#include "hv/race/suspicion.h"

/* The suspicions of a record. All zero: none. */
struct atomicity {
	/* The suspicions, with `rank` and `id`, but without `text`. In the order of the record. */
	struct suspicion *list;
	size_t count;
};

/*
 * Store the suspicions of kind SUSPICION_ATOMICITY in *out. Other pairs of sections with a section in between are correct for a
 * reason: count them in counts->told[reason], with an example in counts->told_text[reason]. Returns 0, or -1 if memory runs
 * out. In both cases the caller frees out->list.
 */
int atomicity_judge(const struct protection *p, struct atomicity *out, struct suspicions *counts);

#endif
