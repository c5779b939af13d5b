/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Target sites of known races (config.known_races): find them in this guest, and decide when each is armed.
 *
 * Time is cut into turns: 200 ms, or 1 s if arming stops the guest. In half of a race's turns both of its sites are armed, so
 * that both CPUs can be held before their accesses even if neither may be held for long. In the other turns one site leads: the
 * second site is armed only while a CPU is held at the leading one. Without a leader, the site that is executed more often
 * would nearly always be the held one, mostly with no other access in its window. config.seed decides which site leads.
 *
 * If there are more sites than the target has points, races share the points: some are active in one turn, others in the next.
 *
 * Used by the sampler's thread, without d->lock: the functions take d->lock where they need it.
 */
#ifndef OUTRIDER_DETECT_STEER_TARGET_SITES_H
#define OUTRIDER_DETECT_STEER_TARGET_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "symbols/tables/symtab.h"

struct target_sites;
struct detect;

/* Prepare for the races in d->config.known_races. Returns NULL when memory runs out. */
struct target_sites *target_sites_new(struct detect *d);

/* Free everything. `t` may be NULL. */
void target_sites_free(struct target_sites *t);

/*
 * Text was loaded at [start, end), with these symbols. `module` "": it is the kernel's text. The caller has added it to the
 * pool under `key`. Find the target sites in it, and send a message for each site that the text does not have, up to 16.
 * Returns 0, or -1 with EXIT_INTERNAL in `err` when memory runs out.
 */
int target_sites_text_came(struct target_sites *t, const void *key, const char *module, const struct symtab *symbols,
			   uint64_t start, uint64_t end, struct err *err);

/* The text under `key` was freed: forget the sites in it, and wait for their module again. */
void target_sites_text_gone(struct target_sites *t, const void *key);

/* Check that at least one target site was found or may still come with a module. Returns 0, or -1 with EXIT_INPUT in `err`. */
int target_sites_check(struct target_sites *t, struct err *err);

/*
 * Start an iteration over the target sites at time `now` (CLOCK_MONOTONIC, ns), with at most `room` points. If the turn is
 * over, begin the next one and disarm points that are not due in it. Returns the number of sites.
 */
size_t target_sites_begin(struct target_sites *t, uint64_t now, uint32_t room);

/*
 * Returns the GVA of site number `i`, which is less than what target_sites_begin() returned, if the site is to be armed now,
 * else 0. The numbering starts at another site in each iteration.
 */
uint64_t target_sites_due(struct target_sites *t, size_t i);

#endif
