/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pool: DataCollider's sampling set (section 3.1.1), all sites that may be sampled. It has one segment for the kernel, one
 * for each module, so that an unloaded module's sites can be removed, and one for callees (callees.h).
 *
 * Sites may have weights (hv/race/prefer.h): the probability of a site is proportional to its weight. Equal weights give the
 * same choices as no weights.
 *
 * The pool is lazy: decoding a whole kernel takes long (40 s in the labs), and most sites are never chosen. A function is
 * decoded from live guest text the first time that it is drawn, which means chosen at random. Sites of equal weight are
 * nevertheless equally likely: the probability that a function is drawn is proportional to its size times the largest weight
 * in it. The probability that a site of a drawn function is taken is proportional to the site's weight divided by that
 * product. A draw yields about one site on average, and fewer if weights differ. The same seed gives the same sites in the
 * same order, whatever was decoded before.
 *
 * Used by the sampler's thread only, without a lock.
 */
#ifndef OUTRIDER_DETECT_STEER_POOL_H
#define OUTRIDER_DETECT_STEER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/rng.h"
#include "hv/detect/core/spans.h"
#include "hv/race/prefer.h"
#include "symbols/insn/insn.h"
#include "symbols/tables/symtab.h"

struct pool_filter {
	/* Comma-separated globs of function names. NULL: all functions. The string must outlive the pool. */
	const char *sample;
	/* Whether GS-relative accesses are sites too. */
	bool per_cpu;
};

/* Callbacks by which the pool gets facts about the guest. */
struct pool_source {
	/* Whether sampling the function is safe. */
	bool (*eligible)(void *ctx, const struct symbol *function);
	/* Copy code as the guest wrote it, without the detector's INT3s. Returns 0, or -1 when any byte cannot be read. */
	int (*code)(void *ctx, uint64_t gva, void *buf, size_t len);
	/* The weights of the sites of the function at this GVA; they must outlive the pool. NULL: all sites weigh the same. */
	struct prefer_weights (*weights)(void *ctx, uint64_t gva);
	void *ctx;
};

struct pool;

/*
 * Find the next function in [start, end) that pool_add() would add, from symbol *i on. Advances *i past all names of the
 * function. Returns false at the end. Any thread.
 */
bool pool_next_function(const struct pool *pool, const struct symtab *symbols, uint64_t start, uint64_t end, size_t *i,
			struct symbol *out);

/* Whether a function's name matches one of the globs of a pool_filter, or `globs` is NULL. Any thread. */
bool pool_name_fits(const char *name, const char *globs);

/*
 * Whether a module is to be sampled (detect_config.module). `module` is "" for the kernel, which is sampled only if `globs` is
 * NULL. Any thread.
 */
bool pool_module_fits(const char *module, const char *globs);

/* Create a pool; both structs are copied. Returns NULL when memory runs out. */
struct pool *pool_new(const struct pool_source *source, const struct pool_filter *filter);

/* `pool` may be NULL. */
void pool_free(struct pool *pool);

/*
 * Add a segment under `key`: the functions of `symbols` in the GVAs [start, end) that the filter and the source accept.
 * Decodes nothing. `symbols` is used during the call only. Returns the number of functions, or -1 with EXIT_INTERNAL in `err`
 * when memory runs out.
 */
int64_t pool_add(struct pool *pool, const void *key, const struct symtab *symbols, uint64_t start, uint64_t end,
		 struct err *err);

/*
 * Add a segment under `key`: these functions, sorted, whatever their names are. The pool must have none of them already. The
 * weight of each site is multiplied by scale / PREFER_ONE, except for a site that has a weight of its own
 * (prefer_weights.sites). Returns 0, or -1 with EXIT_INTERNAL in `err` when memory runs out.
 */
int pool_add_spans(struct pool *pool, const void *key, const struct spans *functions, uint32_t scale, struct err *err);

/* Remove the segment under `key`, if there is one. */
void pool_remove(struct pool *pool, const void *key);

/* Choose a site at random, by weight. Returns its GVA, or 0 if no site was found in DRAWS_MAX draws. */
uint64_t pool_choose(struct pool *pool, struct rng *rng);

/*
 * A CPU executed the site at this GVA, so the guest runs its function: pool_choose_executed() may choose any site of the
 * function from now on. Does nothing when memory runs out, when the function rests (pool_rest()), or when the pool has no such
 * function, or has not decoded it.
 */
void pool_executed(struct pool *pool, uint64_t site);

/*
 * With `rest`, choose no site of the function around this GVA from now on. Without `rest`, choose its sites again;
 * pool_choose_executed() does so only after the next pool_executed() for the function.
 */
void pool_rest(struct pool *pool, uint64_t gva, bool rest);

/*
 * Choose a site at random, by weight, from the functions that pool_executed() was called for. Decodes nothing. Returns the
 * site's GVA, or 0 if there is no such function.
 */
uint64_t pool_choose_executed(const struct pool *pool, struct rng *rng);

/*
 * Returns the estimated number of sites: counted in decoded functions, and extrapolated by size to all functions. 0 before any
 * function was decoded.
 */
uint64_t pool_sites(const struct pool *pool);

/*
 * Whether this GVA is a site: the start of an instruction that may be sampled, in a function of the pool. Decodes the function
 * if necessary.
 */
bool pool_has_site(struct pool *pool, uint64_t gva);

/* Returns the GVA of the function of the pool that contains `gva`, or 0 if there is none. */
uint64_t pool_function(const struct pool *pool, uint64_t gva);

/* Returns the number of sites of the function that contains `gva`, or 0 if there is no such function or it was not decoded. */
uint32_t pool_function_sites(const struct pool *pool, uint64_t gva);

/*
 * Returns the GVA of the site number `i`, counted from 0 in the order of addresses, of the function that contains `gva`. 0:
 * there is none.
 */
uint64_t pool_function_site(const struct pool *pool, uint64_t gva, uint32_t i);

/*
 * Go to the next function for which this was not called yet, and decode it. Store the GVA of the function's first site in
 * *site, or 0 if the function has no site. The functions of the segment that was added last come first. Within a segment, the
 * functions come in an order that spreads over all of it. Returns false if no function is left.
 */
bool pool_next_first_site(struct pool *pool, uint64_t *site);

/*
 * Whether an instruction is a site: it accesses memory that may be shared, and is not LOCKed, or it is LOCKed and may get a
 * reference. Checked when a function is decoded, and again when a point is armed.
 */
bool pool_is_site(const struct pool *pool, const struct insn *insn);

#endif
