/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A rendezvous: two vCPUs are held directly before conflicting accesses, and all other vCPUs are stopped. From this state a
 * copy of the machine can run the two accesses in either order. Plain data.
 *
 * In a rendezvous of sections, both vCPUs are held directly before calls that take one lock. Side 0 is about to begin the first
 * of two critical sections of one function.
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

/* The critical sections of a rendezvous of sections. */
struct rendezvous_sections {
	/* GVA of the lock. 0: the two sides are before accesses. */
	uint64_t lock;
	/* GVAs of the calls that take the lock: of side 0's first and second section, and of side 1's section. */
	uint64_t first, second, between;
	/*
	 * If the calls `first` and `second` are in different functions: GVA of the start of the function whose activation makes
	 * both sections, as in struct section_pair. 0: both calls are in one function. Side 0's `symbol`, `return_address` and
	 * `cfa` are those of the function that makes both sections.
	 */
	uint64_t caller;
	/*
	 * `gpr`, `offset`: where the lock is at the call `second`. The lock's address is the value of general register `gpr`
	 * plus `offset`. gpr X86_GPRS: no register says where the lock is. Either all such calls take the same variable, so no
	 * register is needed, or the call takes another lock than the first section, and its register is unknown.
	 */
	uint8_t gpr;
	int32_t offset;
};

struct rendezvous {
	/*
	 * Number of the rendezvous in its run, counted from 1. The observation of the same conflict has the same number in its
	 * member `rendezvous`.
	 */
	uint64_t number;
	/* The critical sections of a rendezvous of sections. Then each side's access is to the lock's first byte. */
	struct rendezvous_sections sections;
	/* sides[0] is the sampled side, which was held first. */
	struct rendezvous_side sides[2];
	/* All INT3s of the detector in guest memory, including the INT3s at which the two vCPUs are held. */
	const struct rendezvous_point *points;
	size_t point_count;
};

#endif
