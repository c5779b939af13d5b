/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether code decides by what it reads: whether the value that an instruction loads, or a value computed from it, is compared
 * or tested, and a branch, a conditional move or a set instruction depends on that.
 */
#ifndef OUTRIDER_DETECT_LOCKS_DECISION_H
#define OUTRIDER_DETECT_LOCKS_DECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct insn_decoder;

/* Bytes of code, from the instruction on, through which a value is followed. */
#define DECISION_CODE_MAX 160u

/*
 * `code`: the `len` bytes from the instruction at GVA `addr` on. Follows the path on which no conditional branch is taken, so a
 * decision on another path is missed. A value in memory is not followed.
 */
bool decision_by(struct insn_decoder *decoder, const uint8_t *code, size_t len, uint64_t addr);

#endif
