/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What executes after an instruction. All functions here depend only on the bytes and flags of the decoded instruction. */
#ifndef OUTRIDER_SYMBOLS_INSN_FLOW_H
#define OUTRIDER_SYMBOLS_INSN_FLOW_H

#include "symbols/insn/insn.h"

/* A branch whose target is encoded in the instruction itself, as a displacement. */
struct insn_branch {
	uint64_t target; /* GVA */
	uint8_t width;	 /* bytes of the displacement: 1 or 4 */
	bool call;
	bool conditional; /* jcc, loop, loope, loopne, jrcxz */
};

/*
 * Returns true if `insn` is a direct near call or jump, conditional or not, with or without prefixes (SDM vol. 2: CALL, JMP,
 * Jcc, LOOP, with a displacement of 8 or 32 bits). Writes *out only if the result is true.
 */
bool insn_direct_branch(const struct insn *insn, struct insn_branch *out);

/*
 * Store in *target the target of a direct call, or of a direct unconditional jump, which may be a tail call. Returns false for
 * all other instructions, which do not lead into another function.
 */
bool insn_leads_to(const struct insn *insn, uint64_t *target);

bool insn_is_ud2(const struct insn *insn);

/*
 * Returns true if control never reaches the bytes after `insn`: it is a return, an unconditional jump, or ud2 (although Linux
 * continues after the ud2 of a WARN_ON()). INT3 does not end flow here, and a jump with a prefix, REX included, is not
 * recognised.
 */
bool insn_ends_flow(const struct insn *insn);

#define INSN_CALL_LEN_MAX 7 /* bytes of the longest near call without prefixes */

/*
 * Returns true if the `len` bytes at `code` may end with a near call, direct (E8) or indirect (FF /2). The bytes before a real
 * return address always do. Prefixes of the call do not matter. A true result is no proof: the bytes may belong to other
 * instructions.
 */
bool insn_call_may_end(const uint8_t *code, size_t len);

#endif
