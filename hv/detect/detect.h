/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The detector: DataCollider (OSDI'10, section 3) over a target. This header is all a caller needs.
 *
 * The life of a detector: call detect_new(), and give detect_client() to the target before the target's CPUs run.
 * detect_start() starts two threads. The sampler finds the kernel, builds the pool and arms points; the reporter attributes
 * what was caught and calls the sink. detect_stop() takes all points out and joins both threads. detect_free() comes last.
 *
 * These functions belong to one thread, the caller's, except where another is named. The target calls the client on its own
 * threads.
 */
#ifndef OUTRIDER_DETECT_DETECT_H
#define OUTRIDER_DETECT_DETECT_H

#include "hv/base/err.h"
#include "hv/detect/config.h"
#include "hv/detect/lock_order.h"
#include "hv/guest/guest.h"
#include "hv/race/coverage.h"
#include "hv/race/stats.h"
#include "hv/target/target.h"

struct detect;

/*
 * Returns NULL with EXIT_INTERNAL in `err` when memory runs out. `target` and `guest` must outlive the detector, and so must
 * the strings in `config`. The structs `config` and `sink` are copied.
 */
struct detect *detect_new(struct target *target, struct guest *guest, const struct detect_config *config,
			  const struct detect_sink *sink, struct err *err);

/* What the target must call when a CPU stops. It belongs to the detector. */
const struct target_client *detect_client(struct detect *d);

/* Returns 0, or -1 with EXIT_INTERNAL in `err` when a thread cannot be started. detect_stop() must be called in either case. */
int detect_start(struct detect *d, struct err *err);

/*
 * Take out every point, let held CPUs go, report what is queued, and join the threads. It may be called when the machine is
 * over already. It must be called once only.
 */
void detect_stop(struct detect *d);

/*
 * How long accesses have been sampled so far, in nanoseconds: since the first point was armed. 0: none was yet. Any thread. It
 * waits for nothing, while detect_stats() waits for a target that is busy.
 */
uint64_t detect_sampled_ns(struct detect *d);

/* The counts so far. Any thread. */
void detect_stats(struct detect *d, struct detect_stats *out);

/*
 * The same without the counts of the target, which are 0 but for the time lost as it was some milliseconds ago, for a thread
 * that must not wait. Returns false, and leaves *out as it is, when the detector is at work with a target that keeps it. Any
 * thread.
 */
bool detect_try_stats(struct detect *d, struct detect_stats *out);

/*
 * What was sampled so far, which grows as long as the detector runs. It belongs to the detector, and coverage_size() and
 * coverage_function() may be called for it on any thread. NULL without config.coverage.
 */
struct coverage *detect_coverage(const struct detect *d);

/*
 * Aim at the two sites at these GVAs, beside all else that is sampled, until they are seen to race or detect_prove_end() is
 * called; see hv/detect/prove.h. Returns whether that is so from now on: not when it was already, or there are PROOFS_MAX such
 * pairs. When text goes, the pairs in it are forgotten. These three: any thread, not in a callback of the target's or the
 * sink's that has the detector's lock.
 */
bool detect_prove(struct detect *d, uint64_t a, uint64_t b);
void detect_prove_end(struct detect *d, uint64_t a, uint64_t b);

/* The order of accesses at the two sites, as locks made it. All zero: nothing was seen of it, or the pair is not aimed at. */
struct proof_order detect_proof_order(struct detect *d, uint64_t a, uint64_t b);

/* How often a CPU has come to each of the two sites since then, while it was armed. False: the pair is not aimed at. */
bool detect_proof(struct detect *d, uint64_t a, uint64_t b, uint64_t reached[2]);

/* Free the detector, which was never started or has been stopped. `d` may be NULL. */
void detect_free(struct detect *d);

#endif
