// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the stacks that a CPU is on (Documentation/arch/x86/kernel-stacks.rst). A CPU begins on a task's stack. An interrupt
 * moves it to the CPU's interrupt stack. Some exceptions, such as an NMI, move it from any of these stacks to an exception
 * stack. Each new stack has the stack pointer of the stack that was interrupted. On an interrupt stack, the kernel stores this
 * pointer in the word at the highest address (arch/x86/include/asm/irq_stack.h). On an exception stack, the CPU pushes this
 * pointer (SDM vol. 3, 6.14.2).
 */
#include "hv/guest/linux_stack.h"

#include "hv/base/linux_image.h"
#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_members.h"

#define LARGEST_SIZE 0x10000ull /* limit of a stack's size in bytes, larger than any stack of the kernel */

/* Upper limits for the sizes of task_struct and vm_struct, in bytes. */
#define TASK_MAX 65536
#define VM_STRUCT_MAX 1024

enum kind { UNKNOWN, TASK, IRQ, EXCEPTION };

struct bounds {
	enum kind kind;
	uint64_t start, end;
};

static void find_exception_stacks(struct guest *g)
{
	static const char *const names[] = {"DF_stack", "NMI_stack", "DB_stack",  "MCE_stack",
					    "VC_stack", "VC2_stack", "DB1_stack", "DB2_stack"};
	struct linux_stacks *s = &g->stacks;
	struct btf_member m;

	_Static_assert(sizeof(names) / sizeof(*names) <= LINUX_EXCEPTION_STACKS_MAX, "struct linux_stacks has too few stacks");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (btf_member(g->btf, "cea_exception_stacks", names[i], &m) == 0 && m.size && m.size <= LARGEST_SIZE)
			s->exception[s->exception_count++] = (struct text_range){m.offset, (uint64_t)m.offset + m.size};
	}
}

bool guest_on_stack(const struct x86_regs *regs, uint64_t gva)
{
	uint64_t sp = regs->gpr[X86_RSP];

	/* Interrupt stacks mapped page by page may be unaligned. So also accept addresses less than a page above RSP. */
	return (gva & ~(LINUX_STACK_SIZE - 1)) == (sp & ~(LINUX_STACK_SIZE - 1)) || gva - sp < X86_PAGE_SIZE;
}

uint64_t guest_stack_start(const struct x86_regs *regs)
{
	return regs->gpr[X86_RSP] & ~(LINUX_STACK_SIZE - 1);
}

uint64_t guest_stack_end(const struct x86_regs *regs)
{
	return guest_stack_start(regs) + LINUX_STACK_SIZE;
}

void linux_find_stacks(struct guest *g)
{
	struct linux_stacks *s = &g->stacks;
	struct btf_member area;
	uint64_t size = g->btf ? btf_sizeof(g->btf, "irq_stack") : 0;

	/*
	 * Task and interrupt stacks have the same size: for both, the kernel allocates 2^(2 plus KASAN's addition) pages
	 * (arch/x86/include/asm/page_64_types.h). Only the interrupt stack has a type whose size BTF gives.
	 */
	s->size = size && size <= LARGEST_SIZE && !(size & (size - 1)) ? size : LINUX_STACK_SIZE;
	s->irq_top = linux_percpu_offset(g, "hardirq_stack_ptr", "hardirq_stack_ptr");
	s->exceptions = linux_percpu_offset(g, "cea_exception_stacks", "cea_exception_stacks");
	s->exception_count = 0;
	if (!g->btf || btf_member(g->btf, "task_struct", "stack", &s->task) || s->task.size != sizeof(uint64_t))
		s->task = (struct btf_member){0};
	linux_find_member(g, "task_struct", "tasks.next", TASK_MAX, &s->tasks);
	linux_find_member(g, "task_struct", "thread.sp", TASK_MAX, &s->sp);
	linux_find_member(g, "vm_struct", "addr", VM_STRUCT_MAX, &s->area);
	s->direct = s->task.size && btf_member(g->btf, "task_struct", "stack_vm_area", &area) != 0;
	if (g->btf)
		find_exception_stacks(g);
}

/* Read a kernel pointer from the per-CPU area of the CPU with these registers. */
static bool percpu_pointer(const struct guest *g, const struct x86_regs *regs, uint64_t offset, uint64_t *out)
{
	return offset != LINUX_UNKNOWN && x86_kernel_address(regs->gs_base) &&
	       guest_read(g, regs->gs_base + offset, out, sizeof(*out)) == 0 && x86_kernel_address(*out);
}

static bool inside(const struct bounds *b, uint64_t sp)
{
	return sp >= b->start && sp < b->end;
}

static bool task_stack(const struct guest *g, const struct x86_regs *regs, struct bounds *out)
{
	uint64_t task, stack;

	if (!g->stacks.task.size || !percpu_pointer(g, regs, g->current_task, &task) ||
	    guest_read(g, task + g->stacks.task.offset, &stack, sizeof(stack)) || !x86_kernel_address(stack) ||
	    stack + g->stacks.size < stack)
		return false;
	*out = (struct bounds){TASK, stack, stack + g->stacks.size};
	return true;
}

static bool irq_stack(const struct guest *g, const struct x86_regs *regs, struct bounds *out)
{
	uint64_t top;

	if (!percpu_pointer(g, regs, g->stacks.irq_top, &top))
		return false;
	/*
	 * The pointer points to the end of the stack or, since Linux 5.12, to its last word. So round the pointer up to the
	 * end.
	 */
	top = (top + X86_PAGE_SIZE - 1) & ~(uint64_t)(X86_PAGE_SIZE - 1);
	*out = (struct bounds){IRQ, top - g->stacks.size, top};
	return out->start < top;
}

static bool exception_stack(const struct guest *g, const struct x86_regs *regs, uint64_t sp, struct bounds *out)
{
	uint64_t base;

	if (!percpu_pointer(g, regs, g->stacks.exceptions, &base))
		return false;
	for (unsigned i = 0; i < g->stacks.exception_count; i++) {
		const struct text_range *r = &g->stacks.exception[i];

		*out = (struct bounds){EXCEPTION, base + r->start, base + r->end};
		if (inside(out, sp))
			return true;
	}
	return false;
}

static struct bounds stack_of(const struct guest *g, const struct x86_regs *regs, uint64_t sp)
{
	struct bounds b;

	if ((task_stack(g, regs, &b) && inside(&b, sp)) || (irq_stack(g, regs, &b) && inside(&b, sp)) ||
	    exception_stack(g, regs, sp, &b))
		return b;
	return (struct bounds){.kind = UNKNOWN};
}

bool linux_stack_at(const struct guest *g, const struct x86_regs *regs, uint64_t gva, struct text_range *out)
{
	struct bounds b = stack_of(g, regs, gva);

	*out = (struct text_range){b.start, b.end};
	return b.kind != UNKNOWN;
}

/* Returns the interrupted stack pointer; 0 if user mode was interrupted; 1, which is on no stack, if unknown. */
static uint64_t interrupted_sp(const struct guest *g, const struct bounds *b)
{
	/* CS, RFLAGS, RSP and SS */
	uint64_t frame[4], sp = 1;

	if (b->kind == EXCEPTION && guest_read(g, b->end - sizeof(frame), frame, sizeof(frame)) == 0)
		return (frame[0] & 3) == 3 ? 0 : frame[2];
	if (b->kind == IRQ && guest_read(g, b->end - sizeof(sp), &sp, sizeof(sp)))
		sp = 1;
	return sp;
}

unsigned guest_stacks(const struct guest *g, const struct x86_regs *regs, struct guest_stack out[GUEST_STACKS_MAX])
{
	uint64_t sp = regs->gpr[X86_RSP];
	struct bounds b = stack_of(g, regs, sp);
	unsigned n = 0;

	out[n++] = (struct guest_stack){sp, b.kind == UNKNOWN ? guest_stack_end(regs) : b.end};
	while (n < GUEST_STACKS_MAX && (b.kind == IRQ || b.kind == EXCEPTION)) {
		enum kind from = b.kind;

		sp = interrupted_sp(g, &b);
		if (!sp)
			break;
		b = stack_of(g, regs, sp);
		/* If the interrupted stack pointer is implausible, take the whole task stack. */
		if (b.kind != TASK && !(from == EXCEPTION && b.kind == IRQ)) {
			if (!task_stack(g, regs, &b))
				break;
			sp = b.start;
		}
		out[n++] = (struct guest_stack){sp, b.end};
	}
	return n;
}
