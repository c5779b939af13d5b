/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where control goes after an instruction, from its bytes. Pure functions of a decoded instruction. */
#ifndef OUTRIDER_SYMBOLS_INSN_FLOW_H
#define OUTRIDER_SYMBOLS_INSN_FLOW_H

#include "symbols/insn/insn.h"

/* A branch whose target stands in the instruction itself. */
struct insn_branch {
	uint64_t target; /* GVA */
	uint8_t width;	 /* bytes of the displacement: 1 or 4 */
	bool call;
	bool conditional; /* jcc, loop and its like, jrcxz */
};

/*
 * Whether `insn` is a direct near call or jump, conditional or not, with prefixes or without (SDM vol. 2: CALL, JMP, Jcc, LOOP,
 * with displacements of 8 or 32 bits). *out is written only if it is.
 */
bool insn_direct_branch(const struct insn *insn, struct insn_branch *out);

bool insn_is_ud2(const struct insn *insn);

/*
 * Whether control never passes on to the bytes behind `insn`: after a return, after a jump that is not conditional, and after
 * ud2 (although Linux goes on behind the ud2 of a WARN_ON()). An INT3 does not count, and a jump with a prefix, REX included,
 * is not recognised.
 */
bool insn_ends_flow(const struct insn *insn);

#define INSN_CALL_LEN_MAX 7 /* bytes of the longest near call without prefixes */

/*
 * Whether a near call, direct (E8) or indirect (FF /2), may end where the `len` bytes at `code` end, which is what a return
 * address must look like. Its prefixes do not matter. The bytes may all the same belong to other instructions.
 */
bool insn_call_may_end(const uint8_t *code, size_t len);

#endif
