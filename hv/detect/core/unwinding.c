// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinds the call stack of one side of an observation. */
#include "hv/detect/core/unwinding.h"

#include <string.h>

/* Drop the parts of the interrupted stacks that the unwinder did not use. */
static void trim_stacks(struct race_side *side, unsigned n)
{
	uint8_t *from = side->below, *to = side->below;

	for (unsigned i = 1; i < n; i++) {
		struct race_stack *kept = &side->interrupted[i - 1];
		uint32_t skip = side->calls.used_from[i], len = kept->len;

		memmove(to, from + skip, len - skip);
		kept->gva += skip;
		kept->len -= skip;
		from += len;
		to += kept->len;
	}
}

void unwinding_side(const struct guest *guest, struct race_side *side)
{
	struct unwind_stack stacks[GUEST_STACKS_MAX] = {{side->regs.gpr[X86_RSP], side->stack, side->stack_len}};
	const uint8_t *bytes = side->below;
	unsigned n = 1;

	for (; n < GUEST_STACKS_MAX && side->interrupted[n - 1].len; n++) {
		stacks[n] = (struct unwind_stack){side->interrupted[n - 1].gva, bytes, side->interrupted[n - 1].len};
		bytes += stacks[n].len;
	}
	guest_unwind(guest, &side->regs, &side->context, stacks, n, &side->calls);
	trim_stacks(side, n);
}
