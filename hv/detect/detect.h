/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The detector: DataCollider (OSDI'10, section 3) over a target. Callers need only this header.
 *
 * Life cycle: call detect_new(), and give detect_client() to the target before the target's CPUs run. detect_start() starts
 * the threads. The sampler finds the kernel, builds the pool and arms sample points; the reporter attributes observations and
 * calls the sink. detect_stop() takes all points out and joins the threads. detect_free() comes last.
 *
 * One thread, the caller's, calls these functions, except where a function says otherwise. The target calls the client on its
 * own threads.
 */
#ifndef OUTRIDER_DETECT_DETECT_H
#define OUTRIDER_DETECT_DETECT_H

#include "hv/base/err.h"
#include "hv/detect/core/config.h"
#include "hv/detect/steer/lock_order.h"
#include "hv/guest/guest.h"
#include "hv/race/coverage.h"
#include "hv/race/section_fate.h"
#include "hv/race/section_pair.h"
#include "hv/race/stats.h"
#include "hv/target/target.h"

struct detect;

/*
 * Create a detector. `target`, `guest` and the strings in `config` must outlive it; the structs `config` and `sink` are
 * copied. Returns NULL with EXIT_INTERNAL in `err` when memory runs out.
 */
struct detect *detect_new(struct target *target, struct guest *guest, const struct detect_config *config,
			  const struct detect_sink *sink, struct err *err);

/* Returns the callbacks that the target must call when a CPU stops. Owned by the detector. */
const struct target_client *detect_client(struct detect *d);

/* Returns 0, or -1 with EXIT_INTERNAL in `err` when a thread cannot be started. detect_stop() must be called in either case. */
int detect_start(struct detect *d, struct err *err);

/*
 * Take out every point, release held CPUs, report the queued observations, and join the threads. The machine may have ended
 * before. Call it exactly once.
 */
void detect_stop(struct detect *d);

/*
 * Returns the time since the first sample point was armed, in ns. 0: no sample point was armed yet. Any thread. Takes no lock,
 * so that it does not wait for a busy target as detect_stats() does.
 */
uint64_t detect_sampled_ns(struct detect *d);

/*
 * Returns how long ago the sampler finished its first try to arm sample points, in ns. The guest's kernel is found by then. 0:
 * the try is not finished yet. Any thread. Takes no lock.
 */
uint64_t detect_ready_ns(const struct detect *d);

/* Store the counts so far in *out, the target's included. Any thread. Waits for d->lock and for the target. */
void detect_stats(struct detect *d, struct detect_stats *out);

/*
 * Store the counts so far in *out, without waiting. Of the target's counts only lost_ns and still_ns are set, and are some
 * milliseconds old. Returns false, and leaves *out unchanged, when another thread holds d->lock. Any thread.
 */
bool detect_try_stats(struct detect *d, struct detect_stats *out);

/*
 * Returns the coverage so far, which grows while the detector runs. Owned by the detector. coverage_size() and
 * coverage_function() may be called for it on any thread. NULL without config.coverage.
 */
struct coverage *detect_coverage(const struct detect *d);

/*
 * Try to confirm a suspected race: sample the sites at these two GVAs, beside all other sites, until they race or
 * detect_confirm_end() is called (hv/detect/steer/confirm.h). Returns false if the pair is being confirmed already, or if
 * CONFIRM_PAIRS_MAX other pairs are being confirmed. When a module's text is freed, the pairs with a site in it are forgotten.
 * This function and the three below may be called on any thread, but not in a callback that holds d->lock.
 */
bool detect_confirm(struct detect *d, uint64_t a, uint64_t b);
void detect_confirm_end(struct detect *d, uint64_t a, uint64_t b);

/*
 * Returns how often locks or hand-overs ordered accesses at the two sites so far, and how often not. All zero: no order was
 * observed, or the pair is not being confirmed.
 */
struct pair_order detect_confirm_order(struct detect *d, uint64_t a, uint64_t b);

/*
 * Store in `reached` how often a CPU executed each of the two sites while the site was armed, since detect_confirm(). Returns
 * false if the pair is not being confirmed.
 */
bool detect_confirm_reached(struct detect *d, uint64_t a, uint64_t b, uint64_t reached[2]);

/*
 * Copy to `out` at most `max` of the pairs of critical sections that were seen so far (hv/race/section_pair.h). Returns their
 * number, which is 0 without config.locks. Any thread, but not in a callback that holds d->lock.
 */
size_t detect_section_pairs(struct detect *d, struct section_pair *out, size_t max);

/*
 * Follow the fate of the data that the access at GVA `pc` reads or writes in the critical section that begins with the call
 * `first`, and in the activation's next section, which begins with the call `second` (hv/race/section_fate.h): the site of the
 * access is sampled more often than others. `second` 0: in the access's own section only. `test`: how the code branches by the
 * datum. `suspected`: the access belongs to a suspicion, so it comes before others if there is no room for all. Does nothing
 * without config.locks.
 */
void detect_follow_fate(struct detect *d, uint64_t pc, uint64_t first, uint64_t second, const struct lock_test *test,
			bool suspected);

/*
 * Copy to `out` at most `max` of the fates that are followed. Returns their number. Any thread, but not in a callback that
 * holds d->lock, as for the function above.
 */
size_t detect_fates(struct detect *d, struct section_fate *out, size_t max);

/* Free a detector that was never started or was stopped. `d` may be NULL. */
void detect_free(struct detect *d);

#endif
