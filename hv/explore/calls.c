// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows calls (calls.h). */
#include "hv/explore/calls.h"

#include <string.h>

void calls_forget(struct calls *c)
{
	c->service = c->last_end = c->count = 0;
}

void calls_switch(struct calls *c, const struct x86_regs *regs)
{
	calls_forget(c);
	/* After the return of __switch_to(), RSP has this value in __schedule(), until __schedule() removes its own frame. */
	c->service = regs->gpr[X86_RSP] + sizeof(uint64_t);
}

void calls_skip(struct calls *c)
{
	c->last_end = 0;
}

static void push(struct calls *c, uint64_t rsp)
{
	if (c->count == CALLS_MAX)
		memmove(c->call, c->call + 1, --c->count * sizeof(*c->call));
	c->call[c->count++] = (struct call){rsp, c->last_end};
}

void calls_follow(struct calls *c, const struct insn *insn, const struct x86_regs *regs, unsigned facts)
{
	uint64_t rsp = regs->gpr[X86_RSP];

	/* A return removes the return address, to which RSP points at the start of a function. */
	while (c->count && rsp > c->call[c->count - 1].rsp)
		c->count--;
	if (c->service && rsp > c->service)
		c->service = 0;
	/* Only a call pushes one word to the stack and jumps. */
	if (c->last_end && regs->rip != c->last_end && rsp == c->last_rsp - sizeof(uint64_t))
		push(c, rsp);
	if (!c->service && facts & KERNEL_SERVICE)
		c->service = rsp;
	c->last_rsp = rsp;
	c->last_end = insn->addr + insn->len;
}

uint64_t calls_of_library(const struct calls *c, const struct kernel *kernel)
{
	for (unsigned i = c->count; i-- > 0;)
		if (!(kernel_code_facts(kernel, c->call[i].to) & KERNEL_LIBRARY))
			return c->call[i].to;
	return 0;
}
