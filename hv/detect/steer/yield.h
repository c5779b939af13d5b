/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The yield of a function: the share of the hits in it that open a window. Code that runs with interrupts off, or that works on
 * the stack, is hit as often as other code, but its CPU can seldom be held. Rate control arms fewer points in functions of low
 * yield, so that the hits go to code where a window can open. No function is left out.
 *
 * Belongs to the sampler's thread, and needs no lock.
 */
#ifndef OUTRIDER_DETECT_STEER_YIELD_H
#define OUTRIDER_DETECT_STEER_YIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/rng.h"

/*
 * Number of functions whose yields are kept, a power of two. A guest under one load runs some hundreds of the sampled
 * functions. When two functions share an entry, the later one replaces the earlier one.
 */
#define YIELD_FUNCTIONS 1024u

struct function_yield {
	/* GVA of the function. 0: the entry is free. */
	uint64_t function;
	/* Hits, and those of them that opened a window. Both are halved now and then, so that recent hits count most. */
	uint32_t hits, windows;
};

struct yields {
	struct function_yield functions[YIELD_FUNCTIONS];
	struct rng rng;
};

void yields_init(struct yields *yields, uint64_t seed);

/* Count a hit in the function at this GVA, and whether it opened a window. Does nothing if `function` is 0. */
void yields_count(struct yields *yields, uint64_t function, bool window);

/*
 * Decide at random whether a site that was chosen in this function is to be passed over. The probability is 1 minus the
 * function's yield, and at most 1/2. Always false for a function that was not hit yet, and if `function` is 0.
 */
bool yields_pass_over(struct yields *yields, uint64_t function);

#endif
