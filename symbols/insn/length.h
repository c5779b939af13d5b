/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The length of instructions that Capstone 4 does not know: AVX-512 and later extensions (serialize, wrpkru, enqcmd, CET, AMX).
 * With the length, a linear sweep through a function can continue after such an instruction. The effect on memory stays
 * unknown, so these instructions are never sampled. Private to symbols/insn.
 */
#ifndef OUTRIDER_SYMBOLS_INSN_LENGTH_H
#define OUTRIDER_SYMBOLS_INSN_LENGTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the length in bytes of the instruction that begins at `code`, where `len` bytes are readable. `opcode` is the offset
 * of the first byte that is neither a legacy prefix nor REX. Returns 0 if the instruction is truncated, or its opcode is in no
 * map or group whose encoding is regular (SDM vol. 2, 2.1, 2.3 and 2.7). Otherwise sets *has_mem to whether its ModRM byte
 * names memory.
 */
unsigned insn_regular_length(const uint8_t *code, size_t len, size_t opcode, bool *has_mem);

/*
 * Returns the length in bytes of ModRM, SIB and displacement at offset `pos` of the `len` bytes at `code` (SDM vol. 2, table
 * 2-2). Returns 0 if ModRM or SIB is truncated; the displacement may lie outside of the `len` bytes. Sets *has_mem to whether
 * ModRM names memory.
 */
size_t insn_modrm_length(const uint8_t *code, size_t len, size_t pos, bool *has_mem);

#endif
