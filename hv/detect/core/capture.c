/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records a stopped CPU for one side of an observation: registers, context and stacks. */
#include "hv/detect/core/capture.h"

/*
 * Copy a stack to `to`, page by page, because the stack's last pages may be unmapped. Returns the number of bytes copied, at
 * most `max`.
 */
static uint32_t copy_stack(struct target *target, const struct x86_regs *regs, const struct guest_stack *stack, uint8_t *to,
			   uint32_t max)
{
	uint32_t len = stack->end - stack->start < max ? (uint32_t)(stack->end - stack->start) : max;

	for (uint32_t done = 0, chunk; done < len; done += chunk) {
		uint64_t at = stack->start + done;

		chunk = X86_PAGE_SIZE - (uint32_t)(at & (X86_PAGE_SIZE - 1));
		if (chunk > len - done)
			chunk = len - done;
		if (target_read(target, regs->cr3, regs->cr4, at, to + done, chunk))
			return done;
	}
	return len;
}

static void capture_stacks(struct target *target, const struct guest *guest, const struct x86_regs *regs,
			   struct race_side *side)
{
	struct guest_stack stacks[GUEST_STACKS_MAX];
	unsigned n = guest_stacks(guest, regs, stacks);
	uint32_t used = 0;

	side->stack_len = copy_stack(target, regs, &stacks[0], side->stack, RACE_STACK_MAX);
	for (unsigned i = 1; i < GUEST_STACKS_MAX; i++) {
		struct race_stack *kept = &side->interrupted[i - 1];

		*kept = (struct race_stack){0};
		if (i >= n)
			continue;
		kept->gva = stacks[i].start;
		kept->len = copy_stack(target, regs, &stacks[i], side->below + used, RACE_STACK_MAX - used);
		used += kept->len;
	}
}

void capture_side(struct target *target, const struct guest *guest, unsigned cpu, const struct x86_regs *regs,
		  const struct guest_context *context, struct race_side *side)
{
	side->kind = RACE_SIDE_CPU;
	side->cpu = (uint16_t)cpu;
	side->rw = 0;
	side->locked = false;
	side->pc = side->gva = 0;
	side->size = 0;
	side->regs = *regs;
	side->context = *context;
	side->locks = (struct race_locks){0};
	side->symbol = (struct guest_symbol){0};
	side->code_len = 0;
	side->calls.count = 0;
	capture_stacks(target, guest, regs, side);
}
