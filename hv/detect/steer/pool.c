/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pool of sites that may be sampled (pool.h): segments of functions, each decoded when a site in it is chosen for the first
 * time.
 */
#include "hv/detect/steer/pool.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/detect/steer/functions.h"
#include "symbols/insn/count.h"
#include "symbols/insn/flow.h"

/*
 * A draw (pool.h) takes each site of one function with such a probability that it takes, on average, as many sites as there are
 * in 32 bytes of code: about one.
 */
#define BYTES_A_DRAW 32
/* After this many draws in a row without a site, pool_choose() returns 0. */
#define DRAWS_MAX 1024
#define NOT_DECODED UINT32_MAX

struct function {
	uint64_t addr;
	/* Sum of the weights of the functions before this one in the segment. */
	uint64_t weight_before;
	uint32_t size;
	/* Number of sites in the function, or NOT_DECODED. */
	uint32_t count;
	/* Offsets of the sites from `addr`, in bytes. */
	uint16_t *sites;
	/* The weights of the sites, and the largest of these weights. */
	struct prefer_weights weights;
	uint32_t heaviest;
	/* Whether the function is in pool->executed. */
	bool executed;
	/* pool_rest() has set this: no site of the function is chosen. */
	bool rests;
};

/* A function in which a CPU executed a sample point. */
struct executed {
	struct function *fn;
	/* Sum of the site weights of the functions before this one in pool->executed. */
	uint64_t weight_before;
};

struct segment {
	const void *key;
	/* Sorted by address. */
	struct function *functions;
	size_t count;
	uint64_t bytes, weight;
	/* Number of functions for which pool_next_first_site() was called. */
	size_t first_sites;
};

struct pool {
	struct pool_source source;
	struct pool_filter filter;
	struct insn_decoder *decoder;
	struct segment *segments;
	size_t segment_count;
	uint64_t bytes, weight;
	uint64_t decoded_bytes, decoded_sites;
	struct executed *executed;
	size_t executed_count;
	/* Sum of the site weights of all functions in `executed`. */
	uint64_t executed_weight;
	uint8_t code[FUNCTIONS_SIZE_MAX];
	uint16_t offsets[FUNCTIONS_SIZE_MAX];
	/* GVAs of the sites of the last draw that pool_choose() has not returned yet. */
	uint64_t drawn[FUNCTIONS_SIZE_MAX];
	size_t drawn_count;
};

struct pool *pool_new(const struct pool_source *source, const struct pool_filter *filter)
{
	struct pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->source = *source;
	pool->filter = *filter;
	pool->decoder = insn_decoder_new();
	if (pool->decoder)
		return pool;
	free(pool);
	return NULL;
}

static void free_segment(struct segment *seg)
{
	for (size_t i = 0; i < seg->count; i++)
		free(seg->functions[i].sites);
	free(seg->functions);
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	for (size_t i = 0; i < pool->segment_count; i++)
		free_segment(&pool->segments[i]);
	free(pool->segments);
	free(pool->executed);
	insn_decoder_free(pool->decoder);
	free(pool);
}

/*
 * Whether the LOCKed instruction may get a reference (hv/detect/window/last_put.h). A variable of the kernel or of a CPU is no
 * object that is freed with its last user.
 */
static bool is_get(const struct insn *insn)
{
	return insn_may_count_up(insn) && !(insn->flags & (INSN_RIP_REL | INSN_GS));
}

bool pool_is_site(const struct pool *pool, const struct insn *insn)
{
	/*
	 * On a machine with one CPU, the kernel replaces LOCK prefixes by DS prefixes (alternatives_smp_unlock()); such an
	 * instruction still counts as LOCKed. A branch through memory is no site, because a CPU that stops after it is at the
	 * branch's target.
	 */
	const unsigned never =
		INSN_NO_ACCESS | INSN_STACK | INSN_INDIRECT | INSN_PORT_IO | INSN_INT3 | INSN_BRANCH | INSN_DS_PREFIX;

	if (!insn->nmem || insn->flags & never || (insn->flags & INSN_LOCKED && !is_get(insn)))
		return false;
	return !(insn->flags & INSN_GS) || pool->filter.per_cpu;
}

bool pool_name_fits(const char *name, const char *globs)
{
	const char *end;
	char glob[128];

	if (!globs)
		return true;
	for (;; globs = end + 1) {
		end = strchrnul(globs, ',');
		if ((size_t)(end - globs) < sizeof(glob)) {
			memcpy(glob, globs, (size_t)(end - globs));
			glob[end - globs] = 0;
			if (fnmatch(glob, name, 0) == 0)
				return true;
		}
		if (!*end)
			return false;
	}
}

bool pool_module_fits(const char *module, const char *globs)
{
	return !globs || (module[0] && pool_name_fits(module, globs));
}

/*
 * Returns the weight by which a function is drawn. The draw then takes each site of the function with the probability
 * BYTES_A_DRAW * the site's weight / this weight, which is at most 1.
 */
static uint64_t weight(const struct function *fn)
{
	return (uint64_t)(fn->size > BYTES_A_DRAW ? fn->size : BYTES_A_DRAW) * fn->heaviest;
}

static struct prefer_weights weights_of(const struct pool *pool, uint64_t addr)
{
	const struct prefer_weights uniform = {.weight = PREFER_ONE};

	return pool->source.weights ? pool->source.weights(pool->source.ctx, addr) : uniform;
}

static uint32_t heaviest(const struct prefer_weights *weights)
{
	uint32_t most = weights->weight;

	for (size_t i = 0; i < weights->count; i++)
		most = weights->sites[i].weight > most ? weights->sites[i].weight : most;
	return most;
}

static uint32_t scaled(uint32_t weight, uint32_t scale)
{
	uint64_t product = (uint64_t)weight * scale / PREFER_ONE;

	return product > PREFER_LEAST ? (uint32_t)product : PREFER_LEAST;
}

static int append(const struct pool *pool, struct segment *seg, uint64_t addr, uint64_t size, uint32_t scale)
{
	struct function *fn = list_grow(&seg->functions, &seg->count, sizeof(*fn), NULL);

	if (!fn)
		return -1;
	*fn = (struct function){
		.addr = addr,
		.weight_before = seg->weight,
		.size = (uint32_t)size,
		.count = NOT_DECODED,
		.weights = weights_of(pool, addr),
	};
	fn->weights.weight = scaled(fn->weights.weight, scale);
	fn->heaviest = heaviest(&fn->weights);
	seg->bytes += fn->size;
	seg->weight += weight(fn);
	return 0;
}

/*
 * Whether to add a function, given all symbols at its address. The function is added if any of its names matches the filter,
 * but not if the source calls any of the symbols unsafe to sample.
 */
static bool wanted(void *ctx, const struct symtab *symbols, size_t first, size_t end)
{
	const struct pool *pool = ctx;
	bool match = false;

	for (size_t i = first; i < end; i++) {
		struct symbol fn;

		symtab_get(symbols, i, &fn);
		if (!pool->source.eligible(pool->source.ctx, &fn))
			return false;
		match |= functions_is_text(fn.type) && pool_name_fits(fn.name, pool->filter.sample);
	}
	return match;
}

bool pool_next_function(const struct pool *pool, const struct symtab *symbols, uint64_t start, uint64_t end, size_t *i,
			struct symbol *out)
{
	const struct functions functions = {symbols, start, end, wanted, (void *)pool};

	return functions_next(&functions, i, out);
}

static int collect(struct pool *pool, struct segment *seg, const struct symtab *symbols, uint64_t start, uint64_t end)
{
	struct symbol fn;

	for (size_t i = 0; pool_next_function(pool, symbols, start, end, &i, &fn);) {
		if (append(pool, seg, fn.addr, fn.size, PREFER_ONE))
			return -1;
	}
	return 0;
}

/* Make a filled-in segment a part of the pool. Returns 0, or -1 when memory runs out; the segment is freed then. */
static int add_segment(struct pool *pool, struct segment *seg, struct err *err)
{
	struct segment *to = list_grow(&pool->segments, &pool->segment_count, sizeof(*to), NULL);

	if (!to) {
		free_segment(seg);
		return err_set(err, EXIT_INTERNAL, "out of memory for the sampling pool");
	}
	*to = *seg;
	pool->bytes += seg->bytes;
	pool->weight += seg->weight;
	return 0;
}

int64_t pool_add(struct pool *pool, const void *key, const struct symtab *symbols, uint64_t start, uint64_t end,
		 struct err *err)
{
	struct segment seg = {.key = key};

	if (collect(pool, &seg, symbols, start, end)) {
		free_segment(&seg);
		return err_set(err, EXIT_INTERNAL, "out of memory for the sampling pool");
	}
	return add_segment(pool, &seg, err) ? -1 : (int64_t)seg.count;
}

int pool_add_spans(struct pool *pool, const void *key, const struct spans *functions, uint32_t scale, struct err *err)
{
	struct segment seg = {.key = key};

	for (size_t i = 0; i < functions->count; i++) {
		const struct span *fn = &functions->list[i];

		if (append(pool, &seg, fn->start, fn->end - fn->start, scale)) {
			free_segment(&seg);
			return err_set(err, EXIT_INTERNAL, "out of memory for the sampling pool");
		}
	}
	return add_segment(pool, &seg, err);
}

static void set_executed(struct pool *pool, struct executed *to, struct function *fn)
{
	*to = (struct executed){fn, pool->executed_weight};
	for (uint32_t i = 0; i < fn->count; i++)
		pool->executed_weight += prefer_weight(&fn->weights, fn->sites[i]);
}

/* Remove the functions whose `executed` is false from pool->executed. */
static void forget_executed(struct pool *pool)
{
	size_t n = pool->executed_count;

	pool->executed_count = 0;
	pool->executed_weight = 0;
	for (size_t i = 0; i < n; i++) {
		if (pool->executed[i].fn->executed)
			set_executed(pool, &pool->executed[pool->executed_count++], pool->executed[i].fn);
	}
}

void pool_remove(struct pool *pool, const void *key)
{
	for (size_t i = 0; i < pool->segment_count; i++) {
		struct segment *seg = &pool->segments[i];

		if (seg->key != key)
			continue;
		for (size_t f = 0; f < seg->count; f++) {
			seg->functions[f].executed = false;
			if (seg->functions[f].count == NOT_DECODED)
				continue;
			pool->decoded_bytes -= seg->functions[f].size;
			pool->decoded_sites -= seg->functions[f].count;
		}
		pool->bytes -= seg->bytes;
		pool->weight -= seg->weight;
		pool->drawn_count = 0; /* Forget the drawn sites: some may be in the segment. */
		forget_executed(pool);
		free_segment(seg);
		memmove(seg, seg + 1, (pool->segment_count - i - 1) * sizeof(*seg));
		pool->segment_count--;
		return;
	}
}

/*
 * Store the offsets of the function's sites in pool->offsets, and return their number. Decode all instructions one after the
 * other, because kernel functions have no data between instructions. Stop at bytes that do not decode, and at an INT3 of the
 * guest's own (text being patched, a kprobe), since decoding could lose the instruction boundaries after it.
 */
static uint32_t sweep(struct pool *pool, const struct function *fn)
{
	struct insn insn;
	bool padding = false;
	uint32_t n = 0;
	unsigned len;

	for (uint32_t at = 0; at < fn->size; at += len) {
		len = insn_decode(pool->decoder, pool->code + at, fn->size - at, fn->addr + at, &insn);
		if (!len || ((insn.flags & INSN_INT3) && !padding))
			break;
		if (pool_is_site(pool, &insn))
			pool->offsets[n++] = (uint16_t)at;
		padding = insn_ends_flow(&insn) || insn.flags & INSN_INT3;
	}
	return n;
}

static void decode(struct pool *pool, struct function *fn)
{
	uint32_t n = 0;

	if (pool->source.code(pool->source.ctx, fn->addr, pool->code, fn->size) == 0)
		n = sweep(pool, fn);
	fn->sites = n ? malloc(n * sizeof(*fn->sites)) : NULL;
	fn->count = fn->sites ? n : 0;
	if (fn->sites)
		memcpy(fn->sites, pool->offsets, n * sizeof(*fn->sites));
	pool->decoded_bytes += fn->size;
	pool->decoded_sites += fn->count;
}

/* Returns the function at position `at` when the weights of all functions are laid end to end. */
static struct function *function_at(const struct pool *pool, uint64_t at)
{
	const struct segment *seg = pool->segments;
	size_t low = 0, high;

	while (at >= seg->weight)
		at -= seg++->weight;
	high = seg->count;
	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		if (seg->functions[mid].weight_before <= at)
			low = mid;
		else
			high = mid;
	}
	return &seg->functions[low];
}

static void draw(struct pool *pool, struct rng *rng)
{
	struct function *fn = function_at(pool, rng_below(rng, pool->weight));

	if (fn->rests)
		return;
	if (fn->count == NOT_DECODED)
		decode(pool, fn);
	for (uint32_t i = 0; i < fn->count; i++) {
		if (rng_below(rng, weight(fn)) < (uint64_t)BYTES_A_DRAW * prefer_weight(&fn->weights, fn->sites[i]))
			pool->drawn[pool->drawn_count++] = fn->addr + fn->sites[i];
	}
}

uint64_t pool_choose(struct pool *pool, struct rng *rng)
{
	for (unsigned n = 0; !pool->drawn_count; n++) {
		if (!pool->weight || n == DRAWS_MAX)
			return 0;
		draw(pool, rng);
	}
	return pool->drawn[--pool->drawn_count];
}

/* Returns the segment's function that contains `addr`, or NULL. */
static struct function *function_around(const struct segment *seg, uint64_t addr)
{
	size_t low = 0, high = seg->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (seg->functions[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && addr - seg->functions[low - 1].addr < seg->functions[low - 1].size ? &seg->functions[low - 1] : NULL;
}

static struct function *find_function(const struct pool *pool, uint64_t addr)
{
	struct function *fn = NULL;

	for (size_t i = 0; i < pool->segment_count && !fn; i++)
		fn = function_around(&pool->segments[i], addr);
	return fn;
}

bool pool_has_site(struct pool *pool, uint64_t gva)
{
	struct function *fn = find_function(pool, gva);

	if (fn && fn->count == NOT_DECODED)
		decode(pool, fn);
	for (uint32_t i = 0; fn && i < fn->count; i++) {
		if (fn->addr + fn->sites[i] == gva)
			return true;
	}
	return false;
}

uint64_t pool_function(const struct pool *pool, uint64_t gva)
{
	const struct function *fn = find_function(pool, gva);

	return fn ? fn->addr : 0;
}

uint32_t pool_function_sites(const struct pool *pool, uint64_t gva)
{
	const struct function *fn = find_function(pool, gva);

	return fn && fn->count != NOT_DECODED ? fn->count : 0;
}

uint64_t pool_function_site(const struct pool *pool, uint64_t gva, uint32_t i)
{
	const struct function *fn = find_function(pool, gva);

	return fn && fn->count != NOT_DECODED && i < fn->count ? fn->addr + fn->sites[i] : 0;
}

/*
 * Returns the function number `n` of a segment in the order of pool_next_first_site(). Each function comes once in this order,
 * because `stride` is a prime and larger than any number of functions. `stride` is 0.618 times 2^32: with this value, the first
 * functions of the order are spread evenly over the segment (Knuth, vol. 3, 6.4).
 */
static struct function *spread(const struct segment *seg, size_t n)
{
	const uint64_t stride = 2654435761u;

	return &seg->functions[n * stride % seg->count];
}

bool pool_next_first_site(struct pool *pool, uint64_t *site)
{
	for (size_t i = pool->segment_count; i-- > 0;) {
		struct segment *seg = &pool->segments[i];
		struct function *fn;

		if (seg->first_sites == seg->count)
			continue;
		fn = spread(seg, seg->first_sites++);
		if (fn->count == NOT_DECODED)
			decode(pool, fn);
		*site = fn->count && !fn->rests ? fn->addr + fn->sites[0] : 0;
		return true;
	}
	return false;
}

void pool_executed(struct pool *pool, uint64_t site)
{
	struct function *fn = find_function(pool, site);
	struct executed *to;

	if (!fn || fn->executed || fn->rests || fn->count == NOT_DECODED)
		return;
	to = list_grow(&pool->executed, &pool->executed_count, sizeof(*to), NULL);
	if (!to)
		return;
	fn->executed = true;
	set_executed(pool, to, fn);
}

void pool_rest(struct pool *pool, uint64_t gva, bool rest)
{
	struct function *fn = find_function(pool, gva);

	if (!fn)
		return;
	fn->rests = rest;
	fn->executed = false;
	forget_executed(pool);
}

uint64_t pool_choose_executed(const struct pool *pool, struct rng *rng)
{
	size_t low = 0, high = pool->executed_count;
	const struct function *fn;
	uint64_t at;

	if (!pool->executed_weight)
		return 0;
	at = rng_below(rng, pool->executed_weight);
	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		if (pool->executed[mid].weight_before <= at)
			low = mid;
		else
			high = mid;
	}
	fn = pool->executed[low].fn;
	at -= pool->executed[low].weight_before;
	for (uint32_t i = 0;; i++) {
		uint32_t heavy = prefer_weight(&fn->weights, fn->sites[i]);

		if (at < heavy)
			return fn->addr + fn->sites[i];
		at -= heavy;
	}
}

uint64_t pool_sites(const struct pool *pool)
{
	if (pool->decoded_bytes == 0)
		return 0;
	return (uint64_t)((double)pool->decoded_sites * (double)pool->bytes / (double)pool->decoded_bytes);
}
