/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random numbers by splitmix64 (Steele, Lea, Flood, OOPSLA'14). A seed gives the same sequence on every host. Not for secrets.
 */
#ifndef OUTRIDER_BASE_RNG_H
#define OUTRIDER_BASE_RNG_H

#include <stdint.h>

struct rng {
	/* Initially the seed. */
	uint64_t state;
};

/* Returns the next 64 random bits. */
static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Returns a number in [0, n); `n` must be above 0. Uniform except for a bias below n/2^64 (multiply-shift). */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)rng_next(r) * n) >> 64);
}

#endif
