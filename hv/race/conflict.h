/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The definition of a conflict: two accesses to overlapping memory, at least one of them a write, not both LOCKed
 * (DataCollider, section 3, calls LOCKed accesses synchronisation; here that word is a class of verdicts). One conflict of two
 * LOCKed accesses is not defined here: a get that comes after the last put (hv/detect/window/last_put.h).
 *
 * The definition comes in two functions, one for the overlap and one for the kinds of the accesses, since not every caller
 * knows both. hv/detect tests overlap of guest-physical ranges when a CPU stops at a sample point, and of guest-virtual ranges
 * when it looks for the access that tripped a watchpoint. It tests the kinds of the accesses in both cases. The store tests
 * only the kinds, once more, when it takes an observation: the hit of a watchpoint proves overlap, even if the accessing
 * instruction could not be determined.
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_RACE_CONFLICT_H
#define OUTRIDER_RACE_CONFLICT_H

#include <stdbool.h>
#include <stdint.h>

/* What kind of access one side makes. */
struct conflict_access {
	/*
	 * False: no vCPU or device was seen making this access, and the fields below have no meaning. The access is treated as
	 * a write, since memory changed.
	 */
	bool known;
	/* The instruction has a LOCK prefix, or is XCHG with memory. */
	bool locked;
	/*
	 * enum insn_rw bits. 0: the kind could not be determined. The access is then treated as a write, since a watchpoint
	 * reported it.
	 */
	uint8_t rw;
};

/*
 * Returns true if two accesses to overlapping memory conflict. An access that is not known may be a write. Returns false if
 * neither of the two is known. Symmetric.
 */
bool race_is_conflict(const struct conflict_access *a, const struct conflict_access *b);

/*
 * Returns true if [a, a+a_len) and [b, b+b_len) have a byte in common. Lengths are in bytes, at least 1. Both addresses are of
 * one kind: guest-physical, or guest-virtual in one address space. Neither range may wrap around.
 */
bool race_ranges_overlap(uint64_t a, uint32_t a_len, uint64_t b, uint32_t b_len);

#endif
