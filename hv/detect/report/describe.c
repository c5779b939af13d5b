/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copy the code around an access, for the pruner and for people who judge the race later without the guest. The kept code
 * starts at an instruction boundary. The called functions are named, because their addresses mean nothing without the guest.
 */
#include "hv/detect/report/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/detect/core/code.h"
#include "hv/detect/core/state.h"
#include "symbols/insn/flow.h"

#define FUNCTION_MAX (64u << 10)
/*
 * If a function is longer than RACE_CODE_MAX bytes, keep CODE_BEFORE bytes before the access, and CODE_AFTER bytes from the
 * access on.
 */
#define CODE_BEFORE 192
#define CODE_AFTER (RACE_CODE_MAX - CODE_BEFORE)

/*
 * Returns the first instruction boundary at or after GVA `wanted`, found by decoding the function from its start. Returns
 * `wanted` itself if that fails.
 */
static uint64_t boundary(struct detect *d, struct insn_decoder *decoder, const struct guest_symbol *fn, uint64_t wanted)
{
	size_t len = wanted - fn->addr + INSN_MAX_LEN, at = 0;
	uint8_t *code = fn->size <= FUNCTION_MAX ? malloc(len) : NULL;
	struct insn insn;

	if (code && detect_code(d, fn->addr, code, len) == 0) {
		while (at < wanted - fn->addr) {
			unsigned n = insn_decode(decoder, code + at, len - at, fn->addr + at, &insn);

			at = n ? at + n : len;
		}
	}
	free(code);
	return at && at < len ? fn->addr + at : wanted;
}

static void name_callees(struct detect *d, struct insn_decoder *decoder, struct race_side *side)
{
	uint32_t at = 0;
	struct guest_symbol symbol;
	struct insn insn;
	uint64_t target;

	side->callee_count = 0;
	while (at < side->code_len && side->callee_count < RACE_CALLEES_MAX) {
		struct race_callee *callee = &side->callees[side->callee_count];
		unsigned n = insn_decode(decoder, side->code + at, side->code_len - at, side->code_gva + at, &insn);

		if (!n)
			break;
		if (insn_leads_to(&insn, &target) && target - side->symbol.addr >= side->symbol.size &&
		    guest_symbol_at(d->guest, target, &symbol) == 0 && symbol.addr == target) {
			callee->at = (uint16_t)at;
			/* Cut a longer name: the names that rules look for are short. */
			snprintf(callee->name, sizeof(callee->name), "%.*s", (int)sizeof(callee->name) - 1, symbol.name);
			side->callee_count++;
		}
		at += n;
	}
}

void describe_side(struct detect *d, struct insn_decoder *decoder, struct race_side *side)
{
	uint64_t at = side->pc ? side->pc : side->regs.rip;
	uint64_t start = at - CODE_BEFORE, end = at + CODE_AFTER;

	if (guest_symbol_at(d->guest, at, &side->symbol) == 0) {
		const struct guest_symbol *fn = &side->symbol;

		if (fn->size <= RACE_CODE_MAX || at - fn->addr <= CODE_BEFORE)
			start = fn->addr;
		else
			start = boundary(d, decoder, fn, start);
		if (end > fn->addr + fn->size || fn->size <= RACE_CODE_MAX)
			end = fn->addr + fn->size;
	}
	side->code_gva = start;
	side->code_len = (uint32_t)(end - start);
	if (detect_code(d, start, side->code, side->code_len))
		side->code_len = 0;
	name_callees(d, decoder, side);
}
