/* SPDX-License-Identifier: GPL-2.0-or-later */
/* splitmix64 (Steele, Lea, Flood, OOPSLA'14): small, seedable, the same sequence everywhere. Not for secrets. */
#ifndef OUTRIDER_BASE_RNG_H
#define OUTRIDER_BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Uniform in [0, n), n > 0 (multiply-shift; the bias is below n/2^64). */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)rng_next(r) * n) >> 64);
}

#endif
