/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings for running a race in both orders. Plain data, part of replay.h. */
#ifndef OUTRIDER_REPLAY_CONFIG_H
#define OUTRIDER_REPLAY_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct replay_config {
	/* Maximum number of instructions that a side may execute in its region. */
	uint64_t instructions;
	/* The length of the free run after an order, in nanoseconds. 0: no free run. */
	uint64_t free_ns;
	/* GVA of the function that puts a task to sleep. 0: unknown. */
	uint64_t sleep;
	/* GPA of the kernel's console level, an int of 4 bytes. The copies set it so high that the kernel prints all messages.
	 * 0: unknown. */
	uint64_t loglevel_gpa;
	/*
	 * RAX after the return of the side's function is ignored: the function is known to return no value or, in a rendezvous
	 * of sections, is not known to return one.
	 */
	bool result_unused[2];
	/*
	 * Side 1 of the rendezvous has made its access, and stands directly after it. In each order, the first side runs alone
	 * to the end of its region, and then the other side.
	 */
	bool paused;
	/*
	 * After both accesses, the sides run in turns of this number of instructions, the first side first. 0: the usual
	 * number, ORDER_TURN.
	 */
	uint32_t turn;
};

#endif
