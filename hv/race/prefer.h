/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which sites are to be chosen more often, and which less: a weight for each function and for each site. A site with a weight
 * of 2 is twice as likely to be chosen as one with a weight of 1. No weight is 0, so no site is ever left out.
 *
 * One thread fills a table, and any thread may look into it from then on.
 */
#ifndef OUTRIDER_RACE_PREFER_H
#define OUTRIDER_RACE_PREFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Weights are whole numbers of thousandths. */
#define PREFER_ONE 1000u
#define PREFER_LEAST 1u
#define PREFER_MOST (1000u * PREFER_ONE)
#define PREFER_BUILD_ID_MAX 64

struct prefer_site {
	/* From the start of the function, in bytes. */
	uint32_t offset;
	uint32_t weight;
};

/* The weights of the sites of a function. */
struct prefer_weights {
	/* Of a site that is not in the list. */
	uint32_t weight;
	/* In the order of their offsets, each offset once. They belong to the table. */
	const struct prefer_site *sites;
	size_t count;
};

struct prefer;

/* `weight` is that of all functions that are not added. NULL: memory ran out. */
struct prefer *prefer_new(uint32_t weight);

/* NULL is allowed. */
void prefer_free(struct prefer *p);

/* Set the weight of a function, "function" or "module:function". Returns 0, or -1 when memory ran out. */
int prefer_function(struct prefer *p, const char *function, uint32_t weight);

/* Set the weight of a site, which has none yet. Returns 0, or -1 when memory ran out. */
int prefer_site(struct prefer *p, const char *function, uint32_t offset, uint32_t weight);

/* The weights of sites are for the kernel with this build id, of at most PREFER_BUILD_ID_MAX bytes. Else they are for any. */
void prefer_for_build(struct prefer *p, const uint8_t *build_id, size_t len);

/* Call this when all is added, before the first prefer_find(). */
void prefer_ready(struct prefer *p);

/* Whether the weights of sites are for the kernel with this build id. A length of 0: the build id is not known. */
bool prefer_is_for(const struct prefer *p, const uint8_t *build_id, size_t len);

/* The weights of this function. */
struct prefer_weights prefer_find(const struct prefer *p, const char *function);

/* The weight of the site at this offset. */
uint32_t prefer_weight(const struct prefer_weights *w, uint32_t offset);

#endif
