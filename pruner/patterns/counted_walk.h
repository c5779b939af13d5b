/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds code that walks a list twice: once to count its entries, and once to store something for each entry. */
#ifndef OUTRIDER_PRUNER_PATTERNS_COUNTED_WALK_H
#define OUTRIDER_PRUNER_PATTERNS_COUNTED_WALK_H

#include "pruner/patterns/view.h"

struct counted_walk {
	/*
	 * Indices of two instructions that load the pointer to the next entry: `counts` in the first walk, which counts the
	 * entries, and `stores` in the second walk.
	 */
	unsigned counts, stores;
};

/* Find two such walks of one list, with the side's access in one of them. Returns false if the kept code has none. */
bool counted_walk_of_side(const struct view_side *s, struct counted_walk *out);

#endif
