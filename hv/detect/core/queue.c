/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue of observations that wait for the reporter (queue.h). */
#include "hv/detect/core/queue.h"

#include <stdlib.h>

int queue_init(struct observation_queue *q)
{
	*q = (struct observation_queue){
		.slots = calloc(QUEUE_MAX, sizeof(*q->slots)),
		.rooms = calloc(QUEUE_MAX, sizeof(*q->rooms)),
	};
	if (!q->slots || !q->rooms) {
		queue_fini(q);
		return -1;
	}
	for (uint16_t i = 0; i < QUEUE_MAX; i++) {
		q->unused[q->unused_count++] = i;
		for (unsigned side = 0; side < 2; side++)
			race_side_use_room(&q->slots[i].sides[side], &q->rooms[i][side]);
	}
	return 0;
}

void queue_fini(struct observation_queue *q)
{
	free(q->slots);
	free(q->rooms);
	*q = (struct observation_queue){0};
}

struct observation *queue_take(struct observation_queue *q)
{
	struct observation *o;

	if (!q->unused_count)
		return NULL;
	o = &q->slots[q->unused[--q->unused_count]];
	for (unsigned i = 0; i < 2; i++)
		o->sides[i].kind = RACE_SIDE_UNSEEN;
	return o;
}

void queue_put(struct observation_queue *q, struct observation *o)
{
	q->waiting[(q->first + q->waiting_count) % QUEUE_MAX] = (uint16_t)(o - q->slots);
	q->waiting_count++;
}

struct observation *queue_next(struct observation_queue *q)
{
	struct observation *o;

	if (!q->waiting_count)
		return NULL;
	o = &q->slots[q->waiting[q->first]];
	q->first = (q->first + 1) % QUEUE_MAX;
	q->waiting_count--;
	return o;
}

void queue_give_back(struct observation_queue *q, struct observation *o)
{
	q->unused[q->unused_count++] = (uint16_t)(o - q->slots);
}
