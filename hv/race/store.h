/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The races of a run: merges observations into one race per unordered pair of sites.
 *
 * No locks: one thread at a time uses a store. While the detector runs, only its reporter thread uses the store.
 */
#ifndef OUTRIDER_RACE_STORE_H
#define OUTRIDER_RACE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/race/race.h"

struct race_store;

/* Returns an empty store, or NULL with err set if memory runs out. */
struct race_store *race_store_new(struct err *err);

/* Free the store and all its races. `s` may be NULL. */
void race_store_free(struct race_store *s);

/* Set the KASLR slide of the kernel image, for the names of sites without a symbol. Call it before the first observation. */
void race_store_set_slide(struct race_store *s, uint64_t slide);

/*
 * Limit the number of races that race_store_add() keeps; without this call there is no limit. Call it before the first
 * observation.
 */
void race_store_limit(struct race_store *s, size_t most);

/* Returns the number of observations of new races that were dropped because the store was full. */
uint64_t race_store_left_out(const struct race_store *s);

/*
 * Add a copy of an observation. Returns the race that was observed, and sets *is_new if this is the race's first observation.
 * Returns NULL without err if the observation is no conflict (hv/race/conflict.h), or the race is new and the store is full.
 * Returns NULL with err if memory runs out. The caller fills in the race's names and modules. Constant time on average.
 */
struct race *race_store_add(struct race_store *s, const struct observation *o, bool *is_new, struct err *err);

/*
 * Add the result of running one instance of a race in both orders. `site_a` is the site name of the side that goes first in
 * order 0, as site_name() writes it, and `site_b` the site name of the other side. The instance is copied, and its strings are
 * made printable. Returns the race. Returns NULL without err if the store has no such race, and NULL with err if memory runs
 * out or replay_instance_wrong() rejects the instance.
 */
struct race *race_store_add_replay(struct race_store *s, const char *site_a, const char *site_b,
				   const struct replay_instance *instance, struct err *err);

/* Begin a new run: races passed to race_store_put() from now on belong to it. */
void race_store_begin_run(struct race_store *s);

/*
 * Take ownership of a race from another run's report. If the store has the same race, the instances, times and replays are
 * merged into the race in the store, and `race` is freed. Returns the race in the store. Returns NULL if memory runs out;
 * `race` is then still the caller's. Constant time on average.
 */
struct race *race_store_put(struct race_store *s, struct race *race, struct err *err);

/* Returns the number of races. */
size_t race_store_count(const struct race_store *s);

/*
 * Returns race `index`. Races are numbered from 0, in the order in which they were found, and `index` must be below
 * race_store_count(). The pointer is valid until race_store_free().
 */
struct race *race_store_get(const struct race_store *s, size_t index);

#endif
