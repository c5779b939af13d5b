// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The weights by which the sampler chooses sites: a hash table of functions, each with its own weight and the weights of its
 * sites.
 */
#include "hv/race/prefer.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/base/siphash.h"

#define FIRST_BUCKETS 256u

struct function {
	char *name;
	uint32_t weight;
	struct prefer_site *sites;
	size_t count;
};

struct prefer {
	uint32_t weight;
	uint8_t build_id[PREFER_BUILD_ID_MAX];
	size_t build_id_len;
	struct function *functions;
	size_t count;
	struct siphash_key key;
	/*
	 * A hash table with open addressing. Values are 1 + index of a function; 0 marks an empty bucket. At most half of the
	 * buckets are used.
	 */
	uint32_t *buckets, mask;
};

struct prefer *prefer_new(uint32_t weight)
{
	struct prefer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->weight = weight;
	p->mask = FIRST_BUCKETS - 1;
	p->buckets = calloc(FIRST_BUCKETS, sizeof(*p->buckets));
	siphash_key_make(&p->key);
	if (p->buckets)
		return p;
	free(p);
	return NULL;
}

void prefer_free(struct prefer *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++) {
		free(p->functions[i].name);
		free(p->functions[i].sites);
	}
	free(p->functions);
	free(p->buckets);
	free(p);
}

/*
 * Returns the bucket of the function with that name or, if there is no such function, the empty bucket where the function
 * belongs.
 */
static uint32_t *bucket_of(const struct prefer *p, const char *name)
{
	uint32_t at = (uint32_t)siphash(&p->key, name, strlen(name)) & p->mask;

	while (p->buckets[at] && strcmp(p->functions[p->buckets[at] - 1].name, name) != 0)
		at = (at + 1) & p->mask;
	return &p->buckets[at];
}

static int grow_buckets(struct prefer *p)
{
	uint32_t mask = 2 * p->mask + 1, *buckets = calloc((size_t)mask + 1, sizeof(*buckets));

	if (!buckets)
		return -1;
	free(p->buckets);
	p->buckets = buckets;
	p->mask = mask;
	for (size_t i = 0; i < p->count; i++)
		*bucket_of(p, p->functions[i].name) = (uint32_t)i + 1;
	return 0;
}

/* Returns the function with that name, added if it is new, or NULL if memory runs out. */
static struct function *find_or_add(struct prefer *p, const char *name)
{
	uint32_t *bucket = bucket_of(p, name);
	struct function *fn;
	char *copy;

	if (*bucket)
		return &p->functions[*bucket - 1];
	if (p->count >= p->mask / 2 && grow_buckets(p))
		return NULL;
	copy = strdup(name);
	fn = copy ? list_grow(&p->functions, &p->count, sizeof(*fn), NULL) : NULL;
	if (!fn) {
		free(copy);
		return NULL;
	}
	*fn = (struct function){.name = copy, .weight = p->weight};
	*bucket_of(p, name) = (uint32_t)p->count;
	return fn;
}

int prefer_function(struct prefer *p, const char *function, uint32_t weight)
{
	struct function *fn = find_or_add(p, function);

	if (fn)
		fn->weight = weight;
	return fn ? 0 : -1;
}

int prefer_site(struct prefer *p, const char *function, uint32_t offset, uint32_t weight)
{
	struct function *fn = find_or_add(p, function);
	struct prefer_site *site = fn ? list_grow(&fn->sites, &fn->count, sizeof(*site), NULL) : NULL;

	if (!site)
		return -1;
	*site = (struct prefer_site){offset, weight};
	return 0;
}

void prefer_for_build(struct prefer *p, const uint8_t *build_id, size_t len)
{
	memcpy(p->build_id, build_id, len);
	p->build_id_len = len;
}

static int by_offset(const void *a, const void *b)
{
	const struct prefer_site *one = a, *other = b;

	return (one->offset > other->offset) - (one->offset < other->offset);
}

void prefer_ready(struct prefer *p)
{
	for (size_t i = 0; i < p->count; i++) {
		if (p->functions[i].count)
			qsort(p->functions[i].sites, p->functions[i].count, sizeof(*p->functions[i].sites), by_offset);
	}
}

bool prefer_is_for(const struct prefer *p, const uint8_t *build_id, size_t len)
{
	return !p->build_id_len || (len == p->build_id_len && memcmp(build_id, p->build_id, len) == 0);
}

struct prefer_weights prefer_find(const struct prefer *p, const char *function)
{
	uint32_t entry = *bucket_of(p, function);
	const struct function *fn = entry ? &p->functions[entry - 1] : NULL;

	return fn ? (struct prefer_weights){fn->weight, fn->sites, fn->count} : (struct prefer_weights){.weight = p->weight};
}

uint32_t prefer_weight(const struct prefer_weights *w, uint32_t offset)
{
	size_t low = 0, high = w->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (w->sites[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low < w->count && w->sites[low].offset == offset ? w->sites[low].weight : w->weight;
}
