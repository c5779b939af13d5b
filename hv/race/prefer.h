/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weights for choosing sites. A site with a weight of 2 is chosen twice as often as a site with a weight of 1. Weights are
 * above 0, so that no site is excluded.
 *
 * One thread fills the table. After prefer_ready() any thread may read it without a lock.
 */
#ifndef OUTRIDER_RACE_PREFER_H
#define OUTRIDER_RACE_PREFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Weights are integers in units of 1/1000. */
#define PREFER_ONE 1000u
#define PREFER_LEAST 1u
#define PREFER_MOST (1000u * PREFER_ONE)
#define PREFER_BUILD_ID_MAX 64 /* bytes */

struct prefer_site {
	/* Offset from the start of the function, in bytes. */
	uint32_t offset;
	uint32_t weight;
};

/* The weights of a function's sites. */
struct prefer_weights {
	/* Weight of a site that is not in `sites`. */
	uint32_t weight;
	/* Sorted by offset, without duplicates. Owned by the table. */
	const struct prefer_site *sites;
	size_t count;
};

struct prefer;

/* `weight` applies to all functions that are not added. Returns NULL if memory runs out. */
struct prefer *prefer_new(uint32_t weight);

/* `p` may be NULL. */
void prefer_free(struct prefer *p);

/* Set the weight of function "function" or "module:function". Returns 0, or -1 if memory runs out. */
int prefer_function(struct prefer *p, const char *function, uint32_t weight);

/* Set the weight of a site that has none yet. Returns 0, or -1 if memory runs out. */
int prefer_site(struct prefer *p, const char *function, uint32_t offset, uint32_t weight);

/*
 * Restrict the weights of sites to the kernel with this build id, of at most PREFER_BUILD_ID_MAX bytes. Without this call, the
 * weights of sites apply to any kernel.
 */
void prefer_for_build(struct prefer *p, const uint8_t *build_id, size_t len);

/* Sort the table. Call it after all weights are set, and before the first prefer_find(). */
void prefer_ready(struct prefer *p);

/*
 * Returns true if the weights of sites apply to the kernel with this build id. `len` 0: the kernel's build id is unknown; the
 * weights then apply only if prefer_for_build() was not called.
 */
bool prefer_is_for(const struct prefer *p, const uint8_t *build_id, size_t len);

/*
 * Returns the weights of a function's sites. If the function was not added, all its sites have the weight that was passed to
 * prefer_new().
 */
struct prefer_weights prefer_find(const struct prefer *p, const char *function);

/* Returns the weight of the site at this offset. */
uint32_t prefer_weight(const struct prefer_weights *w, uint32_t offset);

#endif
