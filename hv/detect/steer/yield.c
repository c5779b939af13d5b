/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts for each function how many of its hits open a window (yield.h). */
#include "hv/detect/steer/yield.h"

#include <stddef.h>

/* Halve the counts of a function at 64 hits: the yield then follows a change of the load within some 64 hits. */
#define HITS_MOST 64u
/*
 * A function of no yield keeps half of its points: code with interrupts off has most of the races of a scheduler, and with one
 * eighth of the points fewer of these were found (docs/performance.md).
 */
#define LEAST_PART 2u

void yields_init(struct yields *yields, uint64_t seed)
{
	*yields = (struct yields){.rng = {.state = seed}};
}

static struct function_yield *entry_of(struct yields *yields, uint64_t function)
{
	/* The multiplier is the golden ratio in 64 bits (Knuth, vol. 3, 6.4): functions are aligned to 16 bytes. */
	uint64_t hash = function * 0x9e3779b97f4a7c15ull;

	return &yields->functions[(hash >> 32) & (YIELD_FUNCTIONS - 1)];
}

void yields_count(struct yields *yields, uint64_t function, bool window)
{
	struct function_yield *entry = entry_of(yields, function);

	if (!function)
		return;
	if (entry->function != function)
		*entry = (struct function_yield){.function = function};
	if (entry->hits == HITS_MOST) {
		entry->hits /= 2;
		entry->windows /= 2;
	}
	entry->hits++;
	entry->windows += window;
}

bool yields_pass_over(struct yields *yields, uint64_t function)
{
	const struct function_yield *entry = entry_of(yields, function);
	uint64_t kept;

	if (!function || entry->function != function)
		return false;
	/* One window and one hit are added, so that a function's first hits decide little. */
	kept = entry->windows + 1;
	if (kept * LEAST_PART < entry->hits + 1)
		return rng_below(&yields->rng, LEAST_PART) != 0;
	return rng_below(&yields->rng, entry->hits + 1) >= kept;
}
