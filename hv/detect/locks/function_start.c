// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the first instruction of a function that a hook can be at (function_start.h). */
#include "hv/detect/locks/function_start.h"

#include <string.h>

#include "hv/detect/core/state.h"
#include "hv/detect/locks/handover.h"
#include "hv/target/emulate.h"
#include "symbols/insn/flow.h"

/* Whether the instruction is the call of __fentry__() at the start of a function that is traced. */
static bool is_fentry(const struct detect *d, const struct insn *insn)
{
	struct insn_branch branch;
	struct guest_symbol to = {0};

	return insn_direct_branch(insn, &branch) && branch.call && guest_symbol_at(d->guest, branch.target, &to) == 0 &&
	       strcmp(to.name, "__fentry__") == 0;
}

bool function_start(const struct detect *d, const struct guest_symbol *symbol, const uint8_t *code, uint16_t arguments,
		    struct insn *out)
{
	unsigned len;

	for (uint64_t at = 0; at < symbol->size && at <= HANDOVER_PROLOGUE; at += len) {
		len = insn_decode(d->sampler.decoder, code + at, symbol->size - at, symbol->addr + at, out);
		if (!len)
			return false;
		if (out->flags & INSN_BRANCH) {
			if (!is_fentry(d, out))
				return false;
			continue;
		}
		if (target_can_emulate(out))
			return true;
		if (out->regs_written & (arguments | 1u << X86_RSP))
			return false;
	}
	return false;
}
