/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a conflict is: two accesses to overlapping memory, of which at least one is a write, and which are not both
 * synchronisation (DataCollider, section 3).
 *
 * The definition is in two halves, since not everybody who asks knows both. Overlap is asked of guest-physical ranges when a
 * CPU stops at a sample point (hv/detect), and of guest-virtual ranges when the access behind a watchpoint is looked for. The
 * kinds of the accesses are asked in both these places, and once more when the store takes an observation: a watchpoint's hit
 * has proved the overlap by then even if its access could not be told, so the store asks for the kinds only.
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_RACE_CONFLICT_H
#define OUTRIDER_RACE_CONFLICT_H

#include <stdbool.h>
#include <stdint.h>

/* What kind of access one side makes. */
struct conflict_access {
	/* False: neither a vCPU nor a device was seen making this access, and the fields below mean nothing. It is a write:
	 * memory was found changed. */
	bool known;
	/* The instruction is LOCKed, which makes the access synchronisation. */
	bool locked;
	/* enum insn_rw bits. 0 is an access that could not be told: it counts as a write, for a watchpoint reported it. */
	uint8_t rw;
};

/* Whether two accesses to overlapping memory conflict. At least one of the two must be known. The order does not matter. */
bool race_is_conflict(const struct conflict_access *a, const struct conflict_access *b);

/*
 * Whether [a, a+a_len) and [b, b+b_len) have a byte in common. Lengths are in bytes, and at least 1. Both are addresses of one
 * kind: guest-physical, or guest-virtual in one address space. Neither range may wrap around.
 */
bool race_ranges_overlap(uint64_t a, uint32_t a_len, uint64_t b, uint32_t b_len);

#endif
