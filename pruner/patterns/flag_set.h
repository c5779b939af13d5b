/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds code that sets flags of a word unless they are set already, or clears them unless they are clear:
 *
 *	if (!(word & flags))
 *		word |= flags;
 */
#ifndef OUTRIDER_PRUNER_PATTERNS_FLAG_SET_H
#define OUTRIDER_PRUNER_PATTERNS_FLAG_SET_H

#include "pruner/patterns/view.h"

struct flag_set {
	/* Indices of the instructions that load the word for the test, branch on the test, and store the word. */
	unsigned load, jump, store;
	/* The flags. Bit 0 is bit 0 of the first byte of the word. */
	uint64_t flags;
	/* The code sets the flags. Otherwise it clears them. */
	bool sets;
	/* The registers that the code writes between the branch and the store. One bit for each enum x86_gpr. */
	uint16_t writes;
};

/*
 * Find such code whose load or store is the side's access. Returns true and sets *out only if the loaded value decides nothing
 * but whether the store is executed.
 */
bool flag_set_of_side(const struct view_side *s, struct flag_set *out);

#endif
