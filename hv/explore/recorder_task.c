// SPDX-License-Identifier: GPL-2.0-or-later
/* The tasks whose code is stepped (recorder.h). */
#include "hv/explore/recorder.h"

#include <sys/syscall.h>

#include "hv/explore/record.h"
#include "hv/guest/guest.h"
#include "hv/replay/copy_cpu.h"

/*
 * Distance in bytes from pt_regs.orig_ax (arch/x86/include/asm/ptrace.h) to the end of the task's kernel stack. orig_ax has the
 * number of the system call, or a negative number after an interrupt.
 */
#define PT_REGS_ORIG_AX 48u

/*
 * Returns whether the task belongs to the program: the task that waited at the mark (base.h), which makes the program's first
 * system call, or a task that was started after it.
 */
static bool is_own(const struct recorder *r, int32_t pid)
{
	return pid >= r->first_pid;
}

void recorder_sees_stack(struct recorder *r, const struct x86_regs *regs)
{
	struct guest_context context = {.pid = -1};
	struct replay_cpu cpu;
	struct err ignored = {0};

	r->stack = guest_stack_start(regs);
	calls_forget(&r->calls);
	if (!r->kernel || copy_get_cpu(&r->drive.copy, r->side, &cpu, &ignored) < 0)
		return;
	guest_context(r->kernel->guest, &cpu.regs, &context);
	if (context.pid < 0)
		return;
	if (r->first_pid < 0)
		r->first_pid = context.pid;
	r->own = is_own(r, context.pid);
}

bool recorder_at_switch(const struct recorder *r, const struct x86_regs *regs)
{
	return r->code.switch_to && regs->rip == r->code.switch_to;
}

bool recorder_exits(uint64_t number)
{
	return number == SYS_exit || number == SYS_exit_group;
}

/*
 * Returns whether the task whose stack RSP points to is in a system call other than an exit. If instead an interrupt took the
 * CPU from the task's user code, the return to that code is not stepped, because it is no part of a system call.
 */
static bool called_kernel(const struct recorder *r, const struct x86_regs *regs)
{
	int64_t number;

	return guest_read(r->kernel->guest, guest_stack_end(regs) - PT_REGS_ORIG_AX, &number, sizeof(number)) == 0 &&
	       number >= 0 && !recorder_exits((uint64_t)number);
}

static void add_task(struct recorded *out, uint64_t task)
{
	for (uint32_t i = 0; i < out->tasks; i++)
		if (out->task[i] == task)
			return;
	if (out->tasks < RECORDED_TASKS_MAX)
		out->task[out->tasks++] = task;
}

/*
 * Handle a switch from the task `before` to the task `next`. If a call of a function of base->also is being stepped, its task
 * now sleeps, so remember the call in r->asleep. If `next` has slept in such a call, go on with this call.
 */
static void look_at_calls(struct recorder *r, uint64_t before, uint64_t next)
{
	uint64_t goes_on = r->asleep.task == next ? r->asleep.call : 0;

	if (r->call || goes_on) {
		r->asleep.task = r->call ? before : 0;
		r->asleep.call = r->call;
	}
	r->call = goes_on;
	if (goes_on)
		pages_forget(&r->pages);
}

void recorder_sees_switch(struct recorder *r, const struct x86_regs *regs)
{
	uint64_t before = regs->gpr[X86_RDI], next = regs->gpr[X86_RSI];
	int32_t pid;

	/* A switch can be seen twice: when the breakpoint at __switch_to() stops the CPU, and at the first step from there. */
	if (next == r->running)
		return;
	r->running = next;
	look_at_calls(r, before, next);
	r->stack = guest_stack_start(regs);
	calls_switch(&r->calls, regs);
	pid = guest_task_pid(r->kernel->guest, next);
	if (r->first_pid >= 0 && pid > r->first_pid)
		add_task(r->out, next);
	r->own = r->call || (r->first_pid >= 0 && is_own(r, pid) && called_kernel(r, regs));
}
