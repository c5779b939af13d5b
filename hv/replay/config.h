/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a race is run in both orders. Plain data, part of replay.h. */
#ifndef OUTRIDER_REPLAY_CONFIG_H
#define OUTRIDER_REPLAY_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct replay_config {
	/* How many instructions the region of a side has at most. */
	uint64_t instructions;
	/* How long an order runs on freely, in nanoseconds. 0: not at all. */
	uint64_t free_ns;
	/* GVA of the function by which a task goes to sleep. 0: not known. */
	uint64_t sleep;
	/* GPA of the level of the kernel's console, an int of 4 bytes, that the copies set so high that all is said. 0:
	 * unknown. */
	uint64_t loglevel_gpa;
	/* Whether the function of each side of the meeting is known to return nothing, so that RAX is dead when it has. */
	bool result_unused[2];
};

#endif
