/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The detector: DataCollider (OSDI'10, section 3) over a target. This header is all a caller needs.
 *
 * Life: detect_new(); give detect_client() to the target before its CPUs run; detect_start() starts two threads, the sampler
 * (finds the kernel, builds the pool, arms points) and the reporter (attributes what was caught and calls the sink);
 * detect_stop() disarms everything and joins them; detect_free().
 */
#ifndef OUTRIDER_DETECT_DETECT_H
#define OUTRIDER_DETECT_DETECT_H

#include "hv/base/err.h"
#include "hv/guest/guest.h"
#include "hv/race/observation.h"
#include "hv/race/stats.h"
#include "hv/target/target.h"

struct detect_config {
	uint64_t seed;	    /* of the choice of points and delays */
	unsigned rate;	    /* hits per second to aim at */
	uint64_t delay_ns;  /* longest window */
	const char *sample; /* comma-separated function globs, or NULL: all */
	const char *module; /* sample only in this module, waiting for it; or NULL */
	bool per_cpu;	    /* sample GS-relative accesses too */
};

struct detect_sink {
	/* On the reporter thread, one at a time. The observation is the callee's only during the call. */
	void (*race)(void *ctx, const struct observation *o);
	/* Progress for people, one line: "kernel found...", "sampling N sites". */
	void (*note)(void *ctx, const char *line);
	/* The detector cannot go on (symbols of another kernel, ...); called once, then the target is stopped. */
	void (*failed)(void *ctx, const struct err *err);
	void *ctx;
};

struct detect;

struct detect *detect_new(struct target *target, struct guest *guest, const struct detect_config *config,
			  const struct detect_sink *sink, struct err *err);
const struct target_client *detect_client(struct detect *d);
int detect_start(struct detect *d, struct err *err);

/* Disarm, let held CPUs go, report what is queued, join. Safe when the machine is already over. Once. */
void detect_stop(struct detect *d);
void detect_stats(struct detect *d, struct detect_stats *out);
void detect_free(struct detect *d);

#endif
