// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the instructions near a side's access in the recorded code. */
#include "hv/report/nearby.h"

#include <string.h>

#include "hv/race/site.h"

static void forget_first(struct nearby *a)
{
	memmove(a->at, a->at + 1, --a->count * sizeof(a->at[0]));
}

/*
 * Decode the code from offset `at`. Returns true if an instruction begins at offset `access`, and sets *out to the instructions
 * near it. Stops at INT3, which pads the gap after a function.
 */
static bool walk(struct insn_decoder *decoder, const struct race_side *side, uint32_t at, uint64_t access, struct nearby *out)
{
	struct insn insn;
	bool found = false;

	out->count = 0;
	while (at < side->code_len && out->count < NEARBY_MAX && (found || at <= access)) {
		unsigned n = insn_decode(decoder, side->code + at, side->code_len - at, side->code_gva + at, &insn);

		if (!n || (found && (out->count - out->access > NEARBY_AFTER || insn.flags & INSN_INT3)))
			break;
		if (!found && out->count > NEARBY_BEFORE)
			forget_first(out);
		if (at == access) {
			found = true;
			out->access = out->count;
		}
		out->at[out->count++] = (uint16_t)at;
		at += n;
	}
	return found;
}

void nearby_find(struct insn_decoder *decoder, const struct race_side *side, struct nearby *out)
{
	uint64_t access = site_address(side) - side->code_gva;

	for (uint32_t at = 0; at < INSN_MAX_LEN && access < side->code_len; at++) {
		if (walk(decoder, side, at, access, out))
			return;
	}
	*out = (struct nearby){0};
}
