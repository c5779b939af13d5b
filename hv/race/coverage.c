// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts the coverage of a run: how often each site was armed and hit, and the results. */
#include "hv/race/coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of sites per chunk. Sites are allocated in chunks, so that they never move. */
#define CHUNK 1024u
/* 4096 chunks have room for 4 million sites. A kernel with all its modules has less than a million. */
#define CHUNKS_MAX 4096u
/* Number of sites copied before the counts' lock is released for a moment. Copying them takes some microseconds. */
#define COPIED_AT_A_TIME 256u
#define FIRST_BUCKETS 1024u

struct site {
	/* The site's current GVA. 0: unknown. */
	uint64_t gva;
	uint32_t offset;
	/* 1 + index of the function's next site. 0: this is the function's last site. */
	uint32_t next;
	struct coverage_counts counts;
	/* Index of the function. */
	uint32_t function;
	/*
	 * coverage_function() returns this site, because coverage_size() has seen the site armed. A site that was added but
	 * then could not be armed is never shown.
	 */
	bool shown;
};

struct function {
	char *name;
	uint32_t sites;
	/* 1 + index of the function's first site, and number of its sites. */
	uint32_t first, count;
	/* Number of the function's sites whose site.shown is set. */
	uint32_t shown;
};

/* A hash table with open addressing. Values are 1 + index; 0 marks an empty bucket. At least one bucket is empty. */
struct buckets {
	uint32_t *at;
	uint32_t mask, used;
};

struct coverage {
	pthread_mutex_t *counts_lock;
	/*
	 * Guards the members up to shown_below against other threads. A thread that needs this lock and the counts' lock takes
	 * this lock first.
	 */
	pthread_mutex_t lock;
	struct site *chunks[CHUNKS_MAX];
	uint32_t site_count;
	struct function *functions;
	size_t function_count, function_room;
	/*
	 * Indices of the functions that have a site whose site.shown is set, in the order in which site.shown was set for their
	 * first site. Same capacity as `functions`.
	 */
	uint32_t *shown;
	size_t shown_functions, shown_sites;
	/* site.shown is set for all sites below this index. */
	uint32_t shown_below;
	/* Used by the sampler's thread only. */
	struct siphash_key key;
	struct buckets by_name, by_gva;
};

static struct site *site_at(const struct coverage *c, uint32_t index)
{
	return &c->chunks[index / CHUNK][index % CHUNK];
}

static int buckets_init(struct buckets *b, uint32_t count)
{
	*b = (struct buckets){.at = calloc(count, sizeof(*b->at)), .mask = count - 1};
	return b->at ? 0 : -1;
}

struct coverage *coverage_new(pthread_mutex_t *counts_lock)
{
	struct coverage *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->counts_lock = counts_lock;
	pthread_mutex_init(&c->lock, NULL);
	siphash_key_make(&c->key);
	if (buckets_init(&c->by_name, FIRST_BUCKETS) == 0 && buckets_init(&c->by_gva, FIRST_BUCKETS) == 0)
		return c;
	coverage_free(c);
	return NULL;
}

void coverage_free(struct coverage *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < CHUNKS_MAX; i++)
		free(c->chunks[i]);
	for (size_t i = 0; i < c->function_count; i++)
		free(c->functions[i].name);
	free(c->functions);
	free(c->shown);
	free(c->by_name.at);
	free(c->by_gva.at);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* ---- the two tables ---- */

static uint32_t gva_hash(uint64_t gva)
{
	return (uint32_t)((gva * 0x9e3779b97f4a7c15ull) >> 32);
}

static uint32_t name_hash(const struct coverage *c, const char *name)
{
	return (uint32_t)siphash(&c->key, name, strlen(name));
}

/* Returns the bucket of the site at this GVA or, if there is no such site, the empty bucket where the site belongs. */
static uint32_t *gva_bucket(const struct coverage *c, const struct buckets *b, uint64_t gva)
{
	uint32_t at = gva_hash(gva) & b->mask;

	while (b->at[at] && site_at(c, b->at[at] - 1)->gva != gva)
		at = (at + 1) & b->mask;
	return &b->at[at];
}

static uint32_t *name_bucket(const struct coverage *c, const struct buckets *b, const char *name)
{
	uint32_t at = name_hash(c, name) & b->mask;

	while (b->at[at] && strcmp(c->functions[b->at[at] - 1].name, name) != 0)
		at = (at + 1) & b->mask;
	return &b->at[at];
}

/* Replace by_gva by a table of `count` buckets with all sites whose address is known. */
static int rebuild_by_gva(struct coverage *c, uint32_t count)
{
	struct buckets b;

	if (buckets_init(&b, count))
		return -1;
	for (uint32_t i = 0; i < c->site_count; i++) {
		if (!site_at(c, i)->gva)
			continue;
		*gva_bucket(c, &b, site_at(c, i)->gva) = i + 1;
		b.used++;
	}
	free(c->by_gva.at);
	c->by_gva = b;
	return 0;
}

static int grow_by_name(struct coverage *c)
{
	struct buckets b;

	if (buckets_init(&b, 2 * (c->by_name.mask + 1)))
		return -1;
	for (size_t i = 0; i < c->function_count; i++)
		*name_bucket(c, &b, c->functions[i].name) = (uint32_t)i + 1;
	b.used = c->by_name.used;
	free(c->by_name.at);
	c->by_name = b;
	return 0;
}

static bool is_full(const struct buckets *b)
{
	return b->used >= b->mask / 2;
}

/* ---- the sampler's side ---- */

struct coverage_counts *coverage_find(const struct coverage *c, uint64_t gva)
{
	uint32_t entry = *gva_bucket(c, &c->by_gva, gva);

	return entry ? &site_at(c, entry - 1)->counts : NULL;
}

/* The functions below, from make_room() to append_site(), and find_or_add(), must be called with c->lock held. */

/*
 * Make room for one more function and for one more site in one call, so that no function is left without a site if memory runs
 * out.
 */
static int make_room(struct coverage *c)
{
	size_t room = c->function_room ? 2 * c->function_room : 256;
	struct site **chunk = &c->chunks[c->site_count / CHUNK];
	struct function *functions;
	uint32_t *shown;

	if (!*chunk)
		*chunk = calloc(CHUNK, sizeof(**chunk));
	if (!*chunk)
		return -1;
	if (c->function_count < c->function_room)
		return 0;
	functions = realloc(c->functions, room * sizeof(*functions));
	if (functions)
		c->functions = functions;
	shown = realloc(c->shown, room * sizeof(*shown));
	if (shown)
		c->shown = shown;
	if (!functions || !shown)
		return -1;
	c->function_room = room;
	return 0;
}

/* Returns the index of the function with that name, added if it is new, or -1 if memory runs out. */
static int64_t find_function(struct coverage *c, const char *name)
{
	uint32_t *bucket;

	if (is_full(&c->by_name) && grow_by_name(c))
		return -1;
	bucket = name_bucket(c, &c->by_name, name);
	if (!*bucket) {
		char *copy = strdup(name);

		if (!copy)
			return -1;
		c->functions[c->function_count++] = (struct function){.name = copy};
		*bucket = (uint32_t)c->function_count;
		c->by_name.used++;
	}
	return *bucket - 1;
}

/* Returns 1 + the index of the function's site at this offset, or 0 if there is none. */
static uint32_t find_site(const struct coverage *c, const struct function *fn, uint32_t offset)
{
	uint32_t entry = fn->first;

	while (entry && site_at(c, entry - 1)->offset != offset)
		entry = site_at(c, entry - 1)->next;
	return entry;
}

/* Returns 1 + the index of a new site. There must be room. */
static uint32_t append_site(struct coverage *c, struct function *fn, uint32_t offset)
{
	*site_at(c, c->site_count++) =
		(struct site){.offset = offset, .next = fn->first, .function = (uint32_t)(fn - c->functions)};
	fn->first = c->site_count;
	fn->count++;
	return c->site_count;
}

/*
 * Set a site's address. The caller needs no lock. If several functions share a name, the site keeps the first address until
 * that address is forgotten.
 */
static void enter(struct coverage *c, uint32_t entry, uint64_t gva)
{
	uint32_t *bucket = gva_bucket(c, &c->by_gva, gva);

	if (site_at(c, entry - 1)->gva || *bucket)
		return;
	site_at(c, entry - 1)->gva = gva;
	*bucket = entry;
	c->by_gva.used++;
}

/* Returns 1 + the index of the site, added if it is new, or 0 if memory runs out. */
static uint32_t find_or_add(struct coverage *c, const char *function, uint32_t offset, uint32_t sites)
{
	int64_t index = make_room(c) ? -1 : find_function(c, function);
	struct function *fn;
	uint32_t entry;

	if (index < 0)
		return 0;
	fn = &c->functions[index];
	if (sites > fn->sites)
		fn->sites = sites;
	entry = find_site(c, fn, offset);
	return entry ? entry : append_site(c, fn, offset);
}

struct coverage_counts *coverage_add(struct coverage *c, uint64_t gva, const char *function, uint32_t offset, uint32_t sites)
{
	uint32_t entry;

	if (c->site_count == CHUNK * CHUNKS_MAX || (is_full(&c->by_gva) && rebuild_by_gva(c, 2 * (c->by_gva.mask + 1))))
		return NULL;
	pthread_mutex_lock(&c->lock);
	entry = find_or_add(c, function, offset, sites);
	pthread_mutex_unlock(&c->lock);
	if (!entry)
		return NULL;
	enter(c, entry, gva);
	return &site_at(c, entry - 1)->counts;
}

void coverage_forget(struct coverage *c, uint64_t start, uint64_t size)
{
	bool any = false;

	for (uint32_t i = 0; i < c->site_count; i++) {
		struct site *site = site_at(c, i);

		if (!site->gva || site->gva - start >= size)
			continue;
		site->gva = 0;
		any = true;
	}
	if (!any)
		return;
	/*
	 * If there is no memory for a new table, empty the old table. coverage_add() then finds each site by name and enters
	 * its address again.
	 */
	if (rebuild_by_gva(c, c->by_gva.mask + 1)) {
		memset(c->by_gva.at, 0, ((size_t)c->by_gva.mask + 1) * sizeof(*c->by_gva.at));
		c->by_gva.used = 0;
		for (uint32_t i = 0; i < c->site_count; i++)
			site_at(c, i)->gva = 0;
	}
}

/* ---- the reader's side ---- */

static int by_offset(const void *a, const void *b)
{
	const struct coverage_site *one = a, *other = b;

	return (one->offset > other->offset) - (one->offset < other->offset);
}

static int make_copy_room(struct coverage_function *out, size_t count)
{
	struct coverage_site *armed;

	if (count <= out->room)
		return 0;
	armed = realloc(out->armed, count * sizeof(*armed));
	if (!armed)
		return -1;
	out->armed = armed;
	out->room = count;
	return 0;
}

/* Copy to *out the function's sites whose site.shown is set. The caller holds c->lock. */
static void copy_sites(const struct coverage *c, const struct function *fn, struct coverage_function *out)
{
	out->count = 0;
	for (uint32_t i = fn->first; i;) {
		pthread_mutex_lock(c->counts_lock);
		for (uint32_t n = 0; i && n < COPIED_AT_A_TIME; n++) {
			const struct site *site = site_at(c, i - 1);

			if (site->shown)
				out->armed[out->count++] = (struct coverage_site){site->offset, site->counts};
			i = site->next;
		}
		pthread_mutex_unlock(c->counts_lock);
	}
	qsort(out->armed, out->count, sizeof(*out->armed), by_offset);
}

static void show_site(struct coverage *c, struct site *site)
{
	struct function *fn = &c->functions[site->function];

	site->shown = true;
	c->shown_sites++;
	if (!fn->shown++)
		c->shown[c->shown_functions++] = site->function;
}

/*
 * Set site.shown for each site that was first armed since the last call, so that coverage_function() returns the site from now
 * on. The caller holds c->lock.
 */
static void show_armed(struct coverage *c)
{
	for (uint32_t i = c->shown_below; i < c->site_count;) {
		pthread_mutex_lock(c->counts_lock);
		for (uint32_t n = 0; i < c->site_count && n < COPIED_AT_A_TIME; n++, i++) {
			struct site *site = site_at(c, i);

			if (!site->shown && site->counts.armed)
				show_site(c, site);
			c->shown_below += site->shown && c->shown_below == i;
		}
		pthread_mutex_unlock(c->counts_lock);
	}
}

struct coverage_size coverage_size(struct coverage *c)
{
	struct coverage_size size;

	pthread_mutex_lock(&c->lock);
	show_armed(c);
	size = (struct coverage_size){c->shown_functions, c->shown_sites};
	pthread_mutex_unlock(&c->lock);
	return size;
}

int coverage_function(struct coverage *c, const struct coverage_size *size, size_t index, struct coverage_function *out)
{
	int ret = 0;

	pthread_mutex_lock(&c->lock);
	if (index < size->functions) {
		const struct function *fn = &c->functions[c->shown[index]];

		ret = make_copy_room(out, fn->shown) ? -1 : 1;
		if (ret > 0) {
			snprintf(out->name, sizeof(out->name), "%s", fn->name);
			copy_sites(c, fn, out);
			out->sites = out->count > fn->sites ? (uint32_t)out->count : fn->sites;
		}
	}
	pthread_mutex_unlock(&c->lock);
	return ret;
}
