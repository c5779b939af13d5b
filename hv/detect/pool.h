/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pool: DataCollider's sampling set (section 3.1.1), which is all sites that may carry a sample point. It is kept in
 * segments, one for the kernel and one for each module, so that a module leaves as it came.
 *
 * Sites may have weights (hv/race/prefer.h), and a site is chosen as often as its weight says. Without weights the choice is
 * uniform, and it is the same choice as with weights that are all equal.
 *
 * The pool is lazy, because decoding a whole kernel takes long (40 s in the labs) and most of it is never chosen. A function is
 * decoded from live guest text the first time that the choice falls on it. Each site is as likely as any other of its weight
 * all the same: a function is drawn with a probability proportional to its size and to the largest weight in it, and each of
 * its sites is taken with a probability proportional to its weight and inversely proportional to these two, which makes about
 * one site a draw, and fewer where weights differ. The same seed gives the same sites in the same order, whatever was decoded
 * when.
 *
 * The pool belongs to the sampler's thread and has no lock.
 */
#ifndef OUTRIDER_DETECT_POOL_H
#define OUTRIDER_DETECT_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/rng.h"
#include "hv/race/prefer.h"
#include "symbols/insn/insn.h"
#include "symbols/tables/symtab.h"

struct pool_filter {
	/* Comma-separated globs on names of functions. NULL: all functions. The string must outlive the pool. */
	const char *sample;
	/* GS-relative accesses are sites too. */
	bool per_cpu;
};

/* What the pool must ask about the guest. */
struct pool_source {
	/* Whether the function may be sampled at all. */
	bool (*eligible)(void *ctx, const struct symbol *function);
	/* Copy code as the guest wrote it, without our INT3s. Returns 0, or -1 when any byte cannot be read. */
	int (*code)(void *ctx, uint64_t gva, void *buf, size_t len);
	/* The weights of the sites of the function at this GVA. They must outlive the pool. NULL: all sites weigh the same. */
	struct prefer_weights (*weights)(void *ctx, uint64_t gva);
	void *ctx;
};

struct pool;

/*
 * The next function in [start, end) that pool_add() would take, from symbol number *i on, which is moved behind it. It is text
 * and of one function alone. False: there is none. Any thread.
 */
bool pool_next_function(const struct pool *pool, const struct symtab *symbols, uint64_t start, uint64_t end, size_t *i,
			struct symbol *out);

/* Whether a function's name fits one of the globs of a pool_filter. Any thread. */
bool pool_name_fits(const char *name, const char *globs);

/* Whether a module is one of those that are to be sampled (detect_config.module). The kernel, "", is none. Any thread. */
bool pool_module_fits(const char *module, const char *globs);

/* NULL: memory ran out. Both structs are copied. */
struct pool *pool_new(const struct pool_source *source, const struct pool_filter *filter);

/* `pool` may be NULL. */
void pool_free(struct pool *pool);

/*
 * Add a segment under `key`: the functions among `symbols` in the GVAs [start, end) that the filter and the source let pass.
 * Nothing is decoded. `symbols` is needed during the call only. Returns the number of functions, or -1 with EXIT_INTERNAL in
 * `err` when memory runs out.
 */
int64_t pool_add(struct pool *pool, const void *key, const struct symtab *symbols, uint64_t start, uint64_t end,
		 struct err *err);

/* Remove the segment under `key`, if there is one. */
void pool_remove(struct pool *pool, const void *key);

/* Choose a site by its weight. Returns its GVA, or 0 when there seems to be none. */
uint64_t pool_choose(struct pool *pool, struct rng *rng);

/*
 * A CPU passed the site at this GVA, so its function is one that the guest runs. From now on pool_choose_passed() may fall on
 * any site of this function. When memory runs out, or the site is in no function of the pool, nothing changes.
 */
void pool_passed(struct pool *pool, uint64_t site);

/*
 * Choose a site by its weight among the functions that pool_passed() was called for. Nothing is decoded. Returns its GVA, or 0
 * when there is none.
 */
uint64_t pool_choose_passed(const struct pool *pool, struct rng *rng);

/* The number of sites: counted in what is decoded, and extrapolated by size for what is not. 0 before anything was decoded. */
uint64_t pool_sites(const struct pool *pool);

/* Whether this GVA is a site: the start of such an instruction in a function of the pool. Decodes the function if need be. */
bool pool_has_site(struct pool *pool, uint64_t gva);

/* How many sites the function around `gva` has. 0: it was not decoded, or there is none. */
uint32_t pool_function_sites(const struct pool *pool, uint64_t gva);

/*
 * Whether an instruction is a site: it accesses memory that may be shared, and it is no synchronisation. Asked when a function
 * is decoded, and again when a point is armed.
 */
bool pool_is_site(const struct pool *pool, const struct insn *insn);

#endif
