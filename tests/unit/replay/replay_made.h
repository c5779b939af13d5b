/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made-up results of instances that ran in both orders, for tests of their readers. */
#ifndef OUTRIDER_TESTS_REPLAY_MADE_H
#define OUTRIDER_TESTS_REPLAY_MADE_H

#include <stdio.h>

#include "hv/race/replay.h"

#define REPLAY_MADE_OOPS "BUG: kernel NULL pointer dereference, address: 0000000000000008"

/* Both orders ran past the end of both regions, and led to the same state. */
static inline struct replay_instance replay_made_equal(void)
{
	struct replay_instance instance = {.outcome = REPLAY_NO_STATE_CHANGE};

	for (uint64_t order = 0; order < 2; order++) {
		instance.orders[order].machine = REPLAY_MACHINE_RUNS;
		for (uint64_t side = 0; side < 2; side++)
			instance.orders[order].regions[side] =
				(struct replay_region){REPLAY_END_RETURN, 100 * (order + 1) + 10 * side};
	}
	return instance;
}

/* A counter of 4 bytes is 1 less in order 0, and a register differs. */
static inline struct replay_instance replay_made_change(void)
{
	struct replay_instance instance = replay_made_equal();

	instance.outcome = REPLAY_STATE_CHANGE;
	instance.difference_count = 2;
	instance.kept = 2;
	instance.differences[0] = (struct replay_difference){
		.len = 4, .gpa = 0x1c0ffee0, .gva = 0xffffffffc0403ee0, .bytes = {{0x29}, {0x2a}}, .name = "gt_counter"};
	instance.differences[1] =
		(struct replay_difference){.is_register = true, .side = 1, .len = 8, .bytes = {{1}, {2}}, .name = "rax"};
	return instance;
}

/* A side of order 1 ran into a fault, so that there was nothing to compare. */
static inline struct replay_instance replay_made_failure(enum replay_failure why)
{
	struct replay_instance instance = replay_made_equal();

	instance.outcome = REPLAY_FAILURE;
	instance.why = why;
	snprintf(instance.why_text, sizeof(instance.why_text), "side 1 did not come to its end");
	instance.orders[1].regions[1].end = REPLAY_END_FAULT;
	return instance;
}

/* The kernel oopsed in this order, and not in the other one. */
static inline struct replay_instance replay_made_oops(unsigned order)
{
	struct replay_instance instance = replay_made_change();

	snprintf(instance.orders[order].trouble, sizeof(instance.orders[order].trouble), "%s", REPLAY_MADE_OOPS);
	instance.orders[order].machine = REPLAY_MACHINE_PANIC;
	return instance;
}

#endif
