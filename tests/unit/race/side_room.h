/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests that change a side of a race: a race has only as much memory for a side as the side needs. */
#ifndef OUTRIDER_TESTS_SIDE_ROOM_H
#define OUTRIDER_TESTS_SIDE_ROOM_H

#include <string.h>

#include "hv/race/observation.h"

/* Move what a side points to into `room`, which is all zero. A test may then write as much as a side can have. */
static inline void side_into_room(struct race_side *side, struct race_side_room *room)
{
	const struct race_side from = *side;

	race_side_use_room(side, room);
	if (from.kind != RACE_SIDE_CPU)
		return;
	memcpy(side->calls.frames, from.calls.frames, from.calls.count * sizeof(*from.calls.frames));
	memcpy(side->callees, from.callees, from.callee_count * sizeof(*from.callees));
	memcpy(side->code, from.code, from.code_len);
	memcpy(side->stack, from.stack, from.stack_len);
	memcpy(side->below, from.below, from.interrupted[0].len + from.interrupted[1].len);
}

#endif
