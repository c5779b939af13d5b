/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pool: DataCollider's sampling set (section 3.1.1), which is all sites that may carry a sample point. It is kept in
 * segments, one for the kernel and one for each module, so that a module leaves as it came.
 *
 * The pool is lazy, because decoding a whole kernel takes long (40 s in the labs) and most of it is never chosen. A function is
 * decoded from live guest text the first time that the choice falls on it. Each site is as likely as any other all the same: a
 * function is drawn with a probability proportional to its size, and each of its sites is taken with a probability inversely
 * proportional to it, which makes about one site a draw. The same seed gives the same sites in the same order, whatever was
 * decoded when.
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
	void *ctx;
};

struct pool;

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

/* Choose a site uniformly. Returns its GVA, or 0 when there seems to be none. */
uint64_t pool_choose(struct pool *pool, struct rng *rng);

/*
 * A CPU passed the site at this GVA, so its function is one that the guest runs. From now on pool_choose_passed() may fall on
 * any site of this function. When memory runs out, or the site is in no function of the pool, nothing changes.
 */
void pool_passed(struct pool *pool, uint64_t site);

/*
 * Choose a site uniformly among the functions that pool_passed() was called for. Nothing is decoded. Returns its GVA, or 0 when
 * there is none.
 */
uint64_t pool_choose_passed(const struct pool *pool, struct rng *rng);

/* The number of sites: counted in what is decoded, and extrapolated by size for what is not. 0 before anything was decoded. */
uint64_t pool_sites(const struct pool *pool);

/*
 * Whether an instruction is a site: it accesses memory that may be shared, and it is no synchronisation. Asked when a function
 * is decoded, and again when a point is armed.
 */
bool pool_is_site(const struct pool *pool, const struct insn *insn);

#endif
