/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out whether code decides by what it reads. Code decides if the value that an instruction loads, or a value computed
 * from this value, is compared or tested, and a branch, a conditional move or a SETcc depends on the result.
 */
#ifndef OUTRIDER_DETECT_LOCKS_DECISION_H
#define OUTRIDER_DETECT_LOCKS_DECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/lock_moment.h"

struct insn_decoder;

/* A value is followed through at most this many bytes of instructions, from the instruction that reads it on. */
#define DECISION_CODE_MAX 160u
/* A loop that walks along a list begins at most this many bytes before the step. */
#define DECISION_LOOP_MAX 256u

/* A function's code, or the part of it around an instruction. */
struct decision_code {
	const uint8_t *bytes;
	size_t len;
	uint64_t addr; /* GVA of the first byte */
};

/*
 * Returns whether code decides by what the instruction at GVA `addr`, in `code`, reads. Follows the path on which no
 * conditional branch is taken, so a decision on another path is missed. A value that is stored to memory is not followed
 * further.
 */
bool decision_by(struct insn_decoder *decoder, const struct decision_code *code, uint64_t addr);

/*
 * Returns whether code decides by the result of a call, in RAX, that has just returned to `addr`. `code`: the `len` bytes from
 * there on. The limits are those of decision_by().
 */
bool decision_by_result(struct insn_decoder *decoder, const uint8_t *code, size_t len, uint64_t addr);

/*
 * Returns whether the code stores to the memory that the instruction at GVA `addr` reads, before it calls a function or stores
 * a byte 0, as an inlined spin_unlock() does. Follows the path on which no conditional branch is taken, and finds stores by the
 * same registers to an operand of the same size. The limits are those of decision_by().
 */
bool decision_stores_back(struct insn_decoder *decoder, const struct decision_code *code, uint64_t addr);

/*
 * A load that may be a step along a linked list: from the address in one register, `base`, it loads the next object's address
 * into a register, `loaded`, which may be the same. Each has the bit of its register. `linked`: `base` has a value that comes
 * from `loaded`.
 */
struct decision_step {
	uint16_t base, loaded;
	bool linked;
};

/*
 * If the instruction at GVA `addr` is such a load, and a branch after it leads back to it or to code before it, returns the GVA
 * to which that branch leads: the start of a loop. Otherwise returns 0. The instruction is a step along a list if, after this,
 * decision_links() is true for the code from there up to the instruction. `code`: the `len` bytes from the instruction on.
 */
uint64_t decision_loop(struct insn_decoder *decoder, const uint8_t *code, size_t len, uint64_t addr,
		       struct decision_step *step);

/*
 * Returns whether, after the `len` bytes `code` at GVA `addr`, `base` has a value that comes from `loaded`. Branches are not
 * followed.
 */
bool decision_links(struct insn_decoder *decoder, const uint8_t *code, size_t len, uint64_t addr, struct decision_step *step);

/*
 * Find out with which constant the code compares what the instruction at GVA `addr` reads. Knows two forms: the instruction
 * itself is a cmp with a constant, or it is a mov to a register and the next instruction is a cmp of this register with a
 * constant. Stores the check in *out; out->known is false for other code. `code`: as for decision_by().
 */
void decision_check(struct insn_decoder *decoder, const uint8_t *code, size_t len, uint64_t addr, struct lock_check *out);

#endif
