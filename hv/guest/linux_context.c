/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Determines the running context from the CPU's per-CPU area, to which GS points in the kernel
 * (arch/x86/include/asm/{current,preempt,percpu}.h).
 */
#include "hv/guest/linux_context.h"
#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_members.h"

/*
 * Fields of the preemption count (include/linux/preempt.h). On x86, bit 31 is the inverted need-resched flag, so PREEMPT_COUNT
 * leaves bit 31 out. Some kernels, seen in Linux 7.3, count in bits 16 to 23 how often local_interrupt_disable() turned
 * interrupts off. In these kernels interrupts and NMIs are counted in higher bits, the variable has 64 bits, and the flag is
 * bit 63. Their bit 31 is the highest bit of the count of NMIs. This bit is set only if 8 NMIs are nested, which does not
 * happen, so PREEMPT_COUNT may leave it out, too.
 */
#define PREEMPT_COUNT 0x7fffffffu
#define PREEMPT_SERVING_SOFTIRQ 0x00000100u

struct preempt_fields {
	uint32_t hardirq, nmi;
};

static const struct preempt_fields preempt_fields[] = {
	[false] = {.hardirq = 0x000f0000, .nmi = 0x00f00000},
	[true] = {.hardirq = 0x0f000000, .nmi = 0x70000000},
};

/* Bytes of task_struct.comm, including the NUL (include/linux/sched.h). */
#define TASK_COMM_LEN 16

void linux_find_context(struct guest *g)
{
	g->current_task = linux_percpu_offset(g, "current_task", "current_task");
	g->preempt_count = linux_percpu_offset(g, "__preempt_count", "preempt_count");
	g->irq_disable_counted = symtab_addr(g->symtab, "_raw_spin_lock_irq_disable") != 0;
	if (!g->btf || btf_member(g->btf, "task_struct", "pid", &g->pid) || btf_member(g->btf, "task_struct", "comm", &g->comm))
		g->comm.size = 0;
	if (!g->btf || btf_member(g->btf, "task_struct", "rcu_read_lock_nesting", &g->rcu_nesting) ||
	    g->rcu_nesting.size != sizeof(int32_t))
		g->rcu_nesting.size = 0;
}

/*
 * Read how deeply the task is nested in RCU read-side sections. Before Linux 5.5 this count is briefly negative at the end of a
 * section: treat that as unknown.
 */
static void read_rcu_nesting(const struct guest *g, uint64_t task, struct guest_context *out)
{
	int32_t nesting;

	if (!g->rcu_nesting.size || guest_read(g, task + g->rcu_nesting.offset, &nesting, sizeof(nesting)) || nesting < 0)
		return;
	out->rcu_known = true;
	out->rcu_nesting = (uint32_t)nesting;
}

void guest_context_brief(const struct guest *g, const struct x86_regs *regs, struct guest_context *out)
{
	const struct preempt_fields *fields = &preempt_fields[g->irq_disable_counted];
	uint32_t count;

	*out = (struct guest_context){.pid = -1, .irqs_off = !(regs->rflags & X86_RFLAGS_IF)};
	if (!x86_kernel_address(regs->gs_base) || g->preempt_count == LINUX_UNKNOWN ||
	    guest_read(g, regs->gs_base + g->preempt_count, &count, sizeof(count)))
		return;
	out->known = true;
	out->preempt_count = count & PREEMPT_COUNT;
	out->preempt_off = out->preempt_count != 0;
	if (count & fields->nmi)
		out->kind = GUEST_NMI;
	else if (count & fields->hardirq)
		out->kind = GUEST_HARDIRQ;
	else if (count & PREEMPT_SERVING_SOFTIRQ)
		out->kind = GUEST_SOFTIRQ;
	else
		out->kind = GUEST_TASK;
}

int32_t guest_task_pid(const struct guest *g, uint64_t task)
{
	int32_t pid;

	return g->comm.size && guest_read(g, task + g->pid.offset, &pid, sizeof(pid)) == 0 ? pid : -1;
}

void guest_context(const struct guest *g, const struct x86_regs *regs, struct guest_context *out)
{
	uint64_t task;

	guest_context_brief(g, regs, out);
	if (!out->known || g->current_task == LINUX_UNKNOWN ||
	    guest_read(g, regs->gs_base + g->current_task, &task, sizeof(task)))
		return;
	out->task = task;
	read_rcu_nesting(g, task, out);
	if (!g->comm.size)
		return;
	out->pid = guest_task_pid(g, task);
	if (guest_read(g, task + g->comm.offset, out->comm, TASK_COMM_LEN))
		out->comm[0] = 0;
	out->comm[TASK_COMM_LEN - 1] = 0;
}

uint64_t guest_sleep_function(const struct guest *g)
{
	return symtab_addr(g->symtab, "__schedule");
}

bool guest_returns_nothing(const struct guest *g, const struct guest_symbol *function)
{
	return g->btf && !function->module[0] && function->name[0] && btf_returns_nothing(g->btf, function->name);
}

bool guest_returns_value(const struct guest *g, const struct guest_symbol *function)
{
	return g->btf && !function->module[0] && function->name[0] && btf_returns_value(g->btf, function->name);
}

uint64_t guest_console_level(const struct guest *g)
{
	uint64_t levels = symtab_addr(g->symtab, "console_printk"), gpa;

	return levels && guest_translate(g, levels, &gpa) == 0 ? gpa : 0;
}

void guest_taint(const struct guest *g, struct guest_taint *out)
{
	struct symbol mask;

	*out = (struct guest_taint){0};
	out->known = g->symtab && symtab_find(g->symtab, "tainted_mask", &mask) == 0 &&
		     guest_read(g, mask.addr, &out->flags, sizeof(out->flags)) == 0;
}
