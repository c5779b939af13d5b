/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The length of instructions that Capstone 4 does not know: AVX-512 and what came after it (serialize, wrpkru, enqcmd, CET, AMX
 * and so on). With it a sweep through a function need not end at such an instruction. What these instructions do is not found
 * out, and so they are never sampled. Private to symbols/insn.
 */
#ifndef OUTRIDER_SYMBOLS_INSN_LENGTH_H
#define OUTRIDER_SYMBOLS_INSN_LENGTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The length in bytes of the instruction at `code`, of which `len` bytes are there. `opcode` is the offset of the first byte
 * that is neither a legacy prefix nor REX. Returns 0 when the instruction is truncated or its form is not one of those with a
 * regular encoding (SDM vol. 2, 2.1, 2.3 and 2.7). Otherwise *has_mem tells whether its ModRM byte names memory.
 */
unsigned insn_regular_length(const uint8_t *code, size_t len, size_t opcode, bool *has_mem);

/*
 * The length in bytes of ModRM, SIB and displacement at `pos` of the `len` bytes at `code` (SDM vol. 2, table 2-2). Returns 0
 * when ModRM or SIB is truncated; a displacement need not be there. *has_mem tells whether ModRM names memory.
 */
size_t insn_modrm_length(const uint8_t *code, size_t len, size_t pos, bool *has_mem);

#endif
