/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The string instructions (SDM vol. 2, MOVS and its like), whose Capstone operands say little. Private to symbols/insn. */
#ifndef OUTRIDER_SYMBOLS_INSN_STRINGS_H
#define OUTRIDER_SYMBOLS_INSN_STRINGS_H

#include "symbols/insn/insn.h"
#include "symbols/insn/prefixes.h"

/*
 * Fill in the memory operands, the written registers and the string flags of `out` when `opcode` is a string instruction's.
 * Returns false, and leaves `out` as it is, when it is not.
 */
bool insn_decode_string(struct insn *out, const struct insn_prefixes *prefixes, uint8_t opcode);

#endif
