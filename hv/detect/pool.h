/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pool: DataCollider's sampling set (3.1.1), all sites that may carry a point. Kept in segments, one for the kernel, one a
 * module, so a module leaves as it came.
 *
 * Lazy: decoding a whole kernel takes long (the labs: 40 s), and most of it is never chosen. A function is decoded from live
 * guest text the first time the choice falls on it. Every site is as likely all the same: a function is drawn with a
 * probability proportional to its size, and each of its sites taken with one inversely proportional to it, about one site a
 * draw. The same seed gives the same sites in the same order, whatever was decoded when.
 *
 * Belongs to the sampler's thread; no lock.
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
	const char *sample; /* comma-separated globs on function names, or NULL: all */
	bool per_cpu;	    /* GS-relative accesses too */
};

/* What the pool needs to know of the guest. */
struct pool_source {
	/* Whether the function may be sampled at all. */
	bool (*eligible)(void *ctx, const struct symbol *function);
	/* Its code as the guest wrote it (our INT3s undone): 0, or -1. */
	int (*code)(void *ctx, uint64_t gva, void *buf, size_t len);
	void *ctx;
};

struct pool;

struct pool *pool_new(const struct pool_source *source, const struct pool_filter *filter);
void pool_free(struct pool *pool);

/*
 * Add a segment under `key`: the functions among `symbols` in [start, end) that the filter and the source let pass. Decodes
 * nothing. Returns how many functions, or -1 (out of memory). Needs `symbols` during the call only.
 */
int64_t pool_add(struct pool *pool, const void *key, const struct symtab *symbols, uint64_t start, uint64_t end,
		 struct err *err);
void pool_remove(struct pool *pool, const void *key);

/* A site (GVA), uniformly; 0 when there seems to be none. */
uint64_t pool_choose(struct pool *pool, struct rng *rng);

/* Sites: counted where decoded, extrapolated by size where not yet. */
uint64_t pool_sites(const struct pool *pool);

/* Whether an instruction is a site: accesses shared memory, plainly. Asked again when a point is armed. */
bool pool_is_site(const struct pool *pool, const struct insn *insn);

#endif
