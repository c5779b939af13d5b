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

struct insn_decoder;

/* A value is followed through at most this many bytes of code, from the instruction that reads it on. */
#define DECISION_CODE_MAX 160u

/*
 * Returns whether code decides by what the instruction at GVA `addr` reads. `code`: the `len` bytes from this instruction on.
 * Follows the path on which no conditional branch is taken, so a decision on another path is missed. A value that is stored to
 * memory is not followed further.
 */
bool decision_by(struct insn_decoder *decoder, const uint8_t *code, size_t len, uint64_t addr);

/*
 * Returns whether code decides by the result of a call, in RAX, that has just returned to `addr`. `code`: the `len` bytes from
 * there on. The limits are those of decision_by().
 */
bool decision_by_result(struct insn_decoder *decoder, const uint8_t *code, size_t len, uint64_t addr);

#endif
