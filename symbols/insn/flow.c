/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/insn/flow.h"

#include <string.h>

#include "symbols/insn/length.h"
#include "symbols/insn/prefixes.h"

bool insn_direct_branch(const struct insn *insn, struct insn_branch *out)
{
	const unsigned prefixes = insn_scan_prefixes(insn->bytes, insn->len).len;
	const uint8_t *code = insn->bytes + prefixes;
	const unsigned len = insn->len - prefixes;
	const bool short_jump = len == 2 && ((code[0] & 0xf0) == 0x70 || (code[0] & 0xfc) == 0xe0 || code[0] == 0xeb);
	const bool near_jump = len == 5 && (code[0] & 0xfe) == 0xe8;
	const bool near_jcc = len == 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80;
	int32_t distance;

	if (!(insn->flags & INSN_BRANCH) || !(short_jump || near_jump || near_jcc))
		return false;
	if (short_jump)
		distance = (int8_t)code[1];
	else
		memcpy(&distance, code + len - sizeof(distance), sizeof(distance));
	*out = (struct insn_branch){
		.target = insn->addr + insn->len + (uint64_t)(int64_t)distance,
		.width = short_jump ? 1 : sizeof(distance),
		.call = code[0] == 0xe8,
		.conditional = near_jcc || (short_jump && code[0] != 0xeb),
	};
	return true;
}

bool insn_leads_to(const struct insn *insn, uint64_t *target)
{
	struct insn_branch branch;

	if (!insn_direct_branch(insn, &branch) || branch.conditional)
		return false;
	*target = branch.target;
	return true;
}

bool insn_is_ud2(const struct insn *insn)
{
	return insn->bytes[0] == 0x0f && insn->bytes[1] == 0x0b;
}

bool insn_ends_flow(const struct insn *insn)
{
	const uint8_t first = insn->bytes[0];
	const bool jump = first == 0xe9 || first == 0xeb;
	const bool indirect_jump = first == 0xff && insn->flags & INSN_BRANCH && !(insn->flags & INSN_CALL);

	return insn->flags & INSN_RET || jump || indirect_jump || insn_is_ud2(insn);
}

bool insn_call_may_end(const uint8_t *code, size_t len)
{
	bool has_mem;

	if (len >= 5 && code[len - 5] == 0xe8)
		return true;
	for (size_t at = len > INSN_CALL_LEN_MAX ? len - INSN_CALL_LEN_MAX : 0; at + 2 <= len; at++) {
		if (code[at] == 0xff && (code[at + 1] >> 3 & 7) == 2 &&
		    at + 1 + insn_modrm_length(code, len, at + 1, &has_mem) == len)
			return true;
	}
	return false;
}
