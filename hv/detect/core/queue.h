/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Observations on their way from the CPU that made them to the reporter. All are allocated at the start, so that the hit path
 * does not allocate. An observation is unused, being filled in, waiting, or being reported.
 *
 * Guarded by the detector's lock. While an observation is being filled in or reported, it belongs to the thread that fills it
 * in or reports it.
 */
#ifndef OUTRIDER_DETECT_CORE_QUEUE_H
#define OUTRIDER_DETECT_CORE_QUEUE_H

#include <stdint.h>

#include "hv/race/observation.h"

#define QUEUE_MAX 128u

struct observation_queue {
	struct observation *slots;
	/* Storage that the two sides of each slot point to. */
	struct race_side_room (*rooms)[2];
	/* Indices of the unused slots, as a stack. */
	uint16_t unused[QUEUE_MAX];
	unsigned unused_count;
	/* Ring of the slots that wait for the reporter. `first` is the index of the oldest. */
	uint16_t waiting[QUEUE_MAX];
	unsigned first, waiting_count;
};

/* Returns 0, or -1 when memory runs out. */
int queue_init(struct observation_queue *q);
void queue_fini(struct observation_queue *q);

/*
 * Take an unused observation to fill in, with both sides RACE_SIDE_UNSEEN. Returns NULL if all are in use, because the reporter
 * is too slow.
 */
struct observation *queue_take(struct observation_queue *q);

/* Queue a filled-in observation for the reporter. */
void queue_put(struct observation_queue *q, struct observation *o);

/* Take the observation that has waited longest. Returns NULL if no observation waits. */
struct observation *queue_next(struct observation_queue *q);

/* Make a reported observation unused again. */
void queue_give_back(struct observation_queue *q, struct observation *o);

#endif
