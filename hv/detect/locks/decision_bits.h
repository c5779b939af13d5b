/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out by which bits of a value code may decide (decision.h), for words that hold several flags. */
#ifndef OUTRIDER_DETECT_LOCKS_DECISION_BITS_H
#define OUTRIDER_DETECT_LOCKS_DECISION_BITS_H

#include <stdint.h>

#include "hv/detect/locks/decision.h"

/*
 * Returns the bits of the value that the instruction at GVA `addr` reads by which the code may decide. Follows the value on all
 * paths of the function. Code that the value leaves for, such as a called function, may decide by each bit that it gets. If
 * something remains unclear, returns all bits. A value that is stored to memory is not followed further, except that all bits
 * are returned if the address is in RSP or RBP. `code`: the whole function.
 */
uint64_t decision_bits(struct insn_decoder *decoder, const struct decision_code *code, uint64_t addr);

#endif
