/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The races of a run. Observations go in, and races come out: one for each unordered pair of sites.
 *
 * No locks: one thread at a time uses a store. While the detector runs that is its reporter thread.
 */
#ifndef OUTRIDER_RACE_STORE_H
#define OUTRIDER_RACE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/race/race.h"

struct race_store;

/* An empty store. NULL with err set: memory ran out. */
struct race_store *race_store_new(struct err *err);

/* Free the store and all races in it. NULL is allowed. */
void race_store_free(struct race_store *s);

/* Set the KASLR slide of the kernel image, for the names of sites without a symbol. Call it before the first observation. */
void race_store_set_slide(struct race_store *s, uint64_t slide);

/* Let race_store_add() keep at most so many races. There is no limit before. Call it before the first observation. */
void race_store_limit(struct race_store *s, size_t most);

/* How many observations of races that are not in the store came when it was full. */
uint64_t race_store_left_out(const struct race_store *s);

/*
 * Add an observation, which is copied. Returns its race, and says in *is_new whether the observation is the first of it. NULL
 * without err being set: the observation is no conflict, by hv/race/conflict.h, or it is of a new race and the store is full.
 * NULL with err set: memory ran out. The race's names and modules are the caller's to fill in. Takes constant time on average,
 * however many races there are.
 */
struct race *race_store_add(struct race_store *s, const struct observation *o, bool *is_new, struct err *err);

/*
 * Add what came of running one instance of a race in both orders. `site_a` is the name, by site_name(), of the side that goes
 * first in order 0 of the instance, and `site_b` that of the other side. The instance is copied, and its strings are made
 * printable. Returns the race. NULL without err being set: no such race is in the store. NULL with err set: memory ran out, or
 * replay_instance_wrong() has something against the instance.
 */
struct race *race_store_add_replay(struct race_store *s, const char *site_a, const char *site_b,
				   const struct replay_instance *instance, struct err *err);

/* A new run begins: races that are put from now on belong to it. */
void race_store_begin_run(struct race_store *s);

/*
 * Take a race over as it is, from another run's report. If the same race is in the store already, that one takes over the
 * instances, times and replays, and `race` is freed. Returns the race that is in the store. NULL: memory ran out, and `race` is
 * still the caller's. Takes constant time on average, however many races there are.
 */
struct race *race_store_put(struct race_store *s, struct race *race, struct err *err);

/* How many races there are. */
size_t race_store_count(const struct race_store *s);

/*
 * Race number `index`, below race_store_count(), in the order in which they were found. A race stays where it is until
 * race_store_free().
 */
struct race *race_store_get(const struct race_store *s, size_t index);

#endif
