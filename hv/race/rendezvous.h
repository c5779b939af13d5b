/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A rendezvous: two vCPUs are held directly before conflicting accesses, and all other vCPUs are stopped. From this state a
 * copy of the machine can run the two accesses in either order. Plain data.
 */
#ifndef OUTRIDER_RACE_RENDEZVOUS_H
#define OUTRIDER_RACE_RENDEZVOUS_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/x86.h"
#include "hv/race/facts.h"

/* One of the two vCPUs and the access that it is about to make. */
struct rendezvous_side {
	unsigned cpu;
	/* The vCPU's registers while the machine is stopped. RIP is the GVA of the accessing instruction. */
	struct x86_regs regs;
	/* The context that runs on the vCPU. */
	struct guest_context context;
	/* The function that contains the instruction. Name "": unknown. */
	struct guest_symbol symbol;
	/* The access: GVA, GPA of its first byte, size in bytes, and enum insn_rw bits. */
	uint64_t gva, gpa;
	uint32_t size;
	uint8_t rw;
	/* Bytes of the instruction. */
	uint8_t insn_len;
	/*
	 * The function's return address, and RSP after the return, which is the frame's CFA. Both are 0 unless known for
	 * certain.
	 */
	uint64_t return_address, cfa;
};

/* A breakpoint (INT3) of the detector in guest memory. */
struct rendezvous_point {
	uint64_t gpa;
	/* The guest's byte that the INT3 replaced. */
	uint8_t byte;
};

struct rendezvous {
	/* Counts from 1 within a run. `rendezvous` of the observation of the same conflict has the same number. */
	uint64_t number;
	/* sides[0] is the sampled side, which was held first. */
	struct rendezvous_side sides[2];
	/* All INT3s in guest memory now, including those under the two vCPUs. */
	const struct rendezvous_point *points;
	size_t point_count;
};

#endif
