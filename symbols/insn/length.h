/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The length of instructions that Capstone 4 does not know (AVX-512, and what came after it: serialize, wrpkru, enqcmd, CET,
 * AMX...), so that a sweep through a function does not end at one. What they do is not told; they are never sampled.
 */
#ifndef OUTRIDER_SYMBOLS_INSN_LENGTH_H
#define OUTRIDER_SYMBOLS_INSN_LENGTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `opcode` is the offset of the first byte that is neither a legacy prefix nor REX. Returns the whole length, and whether
 * ModRM names memory; 0 when the form is not one of those with a regular encoding (SDM vol. 2, 2.1, 2.3 and 2.7).
 */
unsigned insn_regular_length(const uint8_t *code, size_t len, size_t opcode, bool *has_mem);

#endif
