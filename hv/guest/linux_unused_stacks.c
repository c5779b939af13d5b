// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds unused parts of task stacks (linux_unused_stacks.h): the part of a stack below the task's stack pointer, and the whole
 * of a stack that the kernel keeps for a later task. alloc_thread_stack_node() in kernel/fork.c clears such a stack before that
 * task uses it.
 */
#include "hv/guest/linux_unused_stacks.h"

#include <stdlib.h>

#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_members.h"

#define TASKS_MAX 32768 /* processes: the kernel's default limit of pids. Bounds the time that a hostile guest can cost. */

#define CACHED_STACKS 2 /* for each CPU (NR_CACHED_STACKS in kernel/fork.c) */

struct finder {
	const struct guest *g;
	const struct guest_roots *roots;
	uint64_t *current; /* the task of each CPU */
	uint16_t *unused;
	uint64_t pages;
};

/* Record in f->unused the part of the stack that begins at `stack` and ends at `sp`. */
static void enter(struct finder *f, uint64_t stack, uint64_t sp)
{
	for (uint64_t at = stack; at < sp; at += X86_PAGE_SIZE) {
		uint64_t gpa, pfn;

		if (guest_translate(f->g, at, &gpa))
			continue;
		pfn = gpa / X86_PAGE_SIZE;
		if (pfn < f->pages)
			f->unused[pfn] = (uint16_t)(sp - at < X86_PAGE_SIZE ? sp - at : X86_PAGE_SIZE);
	}
}

static int read_per_cpu(const struct guest *g, uint32_t cpu, uint64_t offset, uint64_t *value)
{
	uint64_t area;

	return linux_percpu_area(g, cpu, &area) || guest_read(g, area + offset, value, sizeof(*value)) ? -1 : 0;
}

static int read_current(struct finder *f)
{
	for (uint32_t cpu = 0; cpu < f->g->memory.percpu.cpus; cpu++)
		if (read_per_cpu(f->g, cpu, f->g->current_task, &f->current[cpu]))
			return -1;
	return 0;
}

/* Returns whether the task runs on a CPU, so that its thread.sp is not its stack pointer. */
static bool is_current(const struct finder *f, uint64_t task)
{
	for (uint32_t cpu = 0; cpu < f->g->memory.percpu.cpus; cpu++)
		if (f->current[cpu] == task)
			return true;
	return false;
}

/*
 * Returns the lowest stack pointer that is known for the stack: of the task, if the task does not run, and of each CPU. If no
 * stack pointer is known, returns the end of the stack if roots->empty_stacks is set, and otherwise `stack`. The stack pointer
 * of a CPU can be in the stack of a task that is not the CPU's current task yet: __switch_to_asm() changes the stack before
 * __switch_to() changes current_task.
 */
static uint64_t lowest_sp(const struct finder *f, uint64_t task, uint64_t stack)
{
	uint64_t size = f->g->stacks.size, lowest = stack + size, sp;
	bool known = f->roots->empty_stacks;

	if (!is_current(f, task)) {
		if (linux_read_member(f->g, task, &f->g->stacks.sp, &sp) || sp - stack >= size)
			return stack;
		lowest = sp;
		known = true;
	}
	for (size_t i = 0; i < f->roots->cpus; i++) {
		sp = f->roots->regs[i].gpr[X86_RSP];
		if (sp - stack >= size)
			continue;
		known = true;
		if (sp < lowest)
			lowest = sp;
	}
	return known ? lowest : stack;
}

/* Read the address of a stack, in the member of the structure at `gva`. Returns false if there is none. */
static bool read_stack(const struct guest *g, uint64_t gva, const struct btf_member *m, uint64_t *stack)
{
	return linux_read_member(g, gva, m, stack) == 0 && x86_kernel_address(*stack) && *stack + g->stacks.size > *stack &&
	       *stack % X86_PAGE_SIZE == 0;
}

static void enter_tasks(struct finder *f)
{
	const struct linux_stacks *s = &f->g->stacks;
	uint64_t first = symtab_addr(f->g->symtab, "init_task"), task = first, next, stack;

	for (unsigned i = 0; i < TASKS_MAX && task; i++) {
		if (read_stack(f->g, task, &s->task, &stack))
			enter(f, stack, lowest_sp(f, task, stack));
		if (linux_read_member(f->g, task, &s->tasks, &next) || next - s->tasks.offset == first)
			break;
		task = next - s->tasks.offset;
	}
}

static void enter_cached(struct finder *f)
{
	const struct guest *g = f->g;
	uint64_t list = linux_percpu_offset(g, "cached_stacks", "cached_stacks"), area, stack;

	if (list == LINUX_UNKNOWN)
		return;
	for (uint32_t cpu = 0; cpu < g->memory.percpu.cpus; cpu++)
		for (unsigned i = 0; i < CACHED_STACKS; i++)
			if (read_per_cpu(g, cpu, list + i * sizeof(area), &area) == 0 &&
			    read_stack(g, area, &g->stacks.area, &stack))
				enter(f, stack, stack + g->stacks.size);
}

void linux_find_unused_stacks(const struct guest *g, const struct guest_roots *roots, uint16_t *unused, uint64_t pages)
{
	struct finder f = {.g = g, .roots = roots, .unused = unused, .pages = pages};

	if (g->current_task == LINUX_UNKNOWN || !g->stacks.task.size || !g->stacks.sp.size || !g->stacks.tasks.size ||
	    !g->memory.percpu.cpus)
		return;
	f.current = calloc(g->memory.percpu.cpus, sizeof(*f.current));
	if (f.current && read_current(&f) == 0) {
		enter_tasks(&f);
		enter_cached(&f);
	}
	free(f.current);
}
