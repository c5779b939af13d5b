/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The string instructions movs, cmps, stos, lods, scas, ins and outs (SDM vol. 2). They are decoded from the opcode, since
 * Capstone's operands for them are incomplete. Private to symbols/insn.
 */
#ifndef OUTRIDER_SYMBOLS_INSN_STRINGS_H
#define OUTRIDER_SYMBOLS_INSN_STRINGS_H

#include "symbols/insn/insn.h"
#include "symbols/insn/prefixes.h"

/*
 * If `opcode` is that of a string instruction, fill in the memory operands, the written registers and the string flags of
 * `out`, and return true. Otherwise return false and leave `out` alone.
 */
bool insn_decode_string(struct insn *out, const struct insn_prefixes *prefixes, uint8_t opcode);

#endif
