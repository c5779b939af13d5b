/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A meeting: two CPUs stand right before their accesses to the same memory, of which at least one is a write, and the whole
 * machine stands still. From here a copy of the machine can make the two accesses in either order. Plain data.
 */
#ifndef OUTRIDER_RACE_MEETING_H
#define OUTRIDER_RACE_MEETING_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/x86.h"
#include "hv/race/facts.h"

/* One of the two CPUs, and the access that it is about to make. */
struct meeting_side {
	unsigned cpu;
	/* As the target has them while the machine stands still. RIP is the GVA of the instruction of the access. */
	struct x86_regs regs;
	/* Who runs on the CPU. */
	struct guest_context context;
	/* The function of the instruction. Name "": it is not known. */
	struct guest_symbol symbol;
	/* The access: GVA, GPA of its first byte, size in bytes, and enum insn_rw bits. */
	uint64_t gva, gpa;
	uint32_t size;
	uint8_t rw;
	/* How many bytes the instruction has. */
	uint8_t insn_len;
	/*
	 * Where the function returns to, and the value of RSP when it has returned there, which is the frame's CFA. Both are 0
	 * when they are not known for sure.
	 */
	uint64_t return_address, cfa;
};

/* An INT3 of the detector's in guest memory. */
struct meeting_point {
	uint64_t gpa;
	/* The guest's own byte, which the INT3 replaced. */
	uint8_t byte;
};

struct meeting {
	/* Counts from 1 within a run. The observation of the same conflict has the same number in `meeting`. */
	uint64_t number;
	/* sides[0] is the sampled one, which was held first. */
	struct meeting_side sides[2];
	/* All INT3s that are planted at this moment, those under the two CPUs too. */
	const struct meeting_point *points;
	size_t point_count;
};

#endif
