/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Observations on their way from the CPU that caught them to the reporter. All are allocated at the start, so that the hit path
 * allocates nothing. An observation is unused, or being filled in, or waiting, or being reported.
 *
 * No lock of its own: the detector's lock guards it. An observation that is being filled in or reported belongs to whoever has
 * it.
 */
#ifndef OUTRIDER_DETECT_QUEUE_H
#define OUTRIDER_DETECT_QUEUE_H

#include <stdint.h>

#include "hv/race/observation.h"

#define QUEUE_MAX 128u

struct observation_queue {
	struct observation *slots;
	/* What the two sides of each slot point to. */
	struct race_side_room (*rooms)[2];
	/* Indices of the unused slots, as a stack. */
	uint16_t unused[QUEUE_MAX];
	unsigned unused_count;
	/* Indices of the slots that wait for the reporter, as a ring. `first` is where the oldest stands. */
	uint16_t waiting[QUEUE_MAX];
	unsigned first, waiting_count;
};

/* Returns 0, or -1 when memory runs out. */
int queue_init(struct observation_queue *q);
void queue_fini(struct observation_queue *q);

/* An unused observation, to be filled in, with neither side known. NULL: none is unused, the reporter is too far behind. */
struct observation *queue_take(struct observation_queue *q);

/* The observation is filled in, and waits for the reporter from now on. */
void queue_put(struct observation_queue *q, struct observation *o);

/* The observation that has waited longest, for the reporter to report. NULL: none waits. */
struct observation *queue_next(struct observation_queue *q);

/* The observation is reported, and unused again. */
void queue_give_back(struct observation_queue *q, struct observation *o);

#endif
