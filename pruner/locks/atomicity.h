/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what must be one step and is two critical sections: every access holds the lock, and still another context's section
 * can come in between and see or change a state that is not complete. The interleavings are AVIO's (Lu et al., ASPLOS'06); that
 * several data belong together is MUVI's idea (Lu et al., SOSP'07). docs/atomicity.md says what is told apart and why.
 *
 * Pure functions over the record. Only protect_judge() and tests use this header.
 */
#ifndef OUTRIDER_PRUNER_LOCKS_ATOMICITY_H
#define OUTRIDER_PRUNER_LOCKS_ATOMICITY_H

#include "hv/race/suspicion.h"

/* The suspicions of a record. All zero: none. */
struct atomicity {
	/* `rank` and `id` are set, `text` is not. In the order of the record. */
	struct suspicion *list;
	size_t count;
};

/*
 * Store the suspicions of kind SUSPICION_ATOMICITY in *out, and count in `told` and `told_text` of *counts the other pairs of
 * sections with a section in between. Returns 0, or -1 if memory runs out. In both cases the caller frees out->list.
 */
int atomicity_judge(const struct protection *p, struct atomicity *out, struct suspicions *counts);

#endif
