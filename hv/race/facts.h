/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about a guest's kernel at one moment, as the record of a race keeps them: symbols, contexts, calls and memory. Plain
 * data: hv/guest collects the facts, the record stores them, and readers of the record need no guest. GVAs are run-time
 * addresses; sizes are in bytes.
 */
#ifndef OUTRIDER_RACE_FACTS_H
#define OUTRIDER_RACE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/clean.h"
#include "symbols/unwind/unwind.h"

#define GUEST_STACKS_MAX 3 /* maximum number of stacks per call chain: exception, interrupt and task stack */
/* Bytes of a task's name, made printable, including the NUL. The kernel limits a name to 15 bytes (TASK_COMM_LEN - 1). */
#define GUEST_COMM_MAX CLEAN_MAX(15)

/* A function or a variable. */
struct guest_symbol {
	/* "": the kernel image. */
	char module[64];
	char name[128];
	/*
	 * GVA of the symbol's start. For a per-CPU variable: the value of the symbol, which is not the address of any CPU's
	 * copy.
	 */
	uint64_t addr;
	uint64_t size;
};

enum guest_context_kind { GUEST_TASK, GUEST_SOFTIRQ, GUEST_HARDIRQ, GUEST_NMI };

/* The context that runs on a CPU. */
struct guest_context {
	/* PID of the task that runs, or that is interrupted. -1: unknown. */
	int32_t pid;
	/* GVA of the current task_struct. 0: unknown. Not stored in reports. */
	uint64_t task;
	/* The task's name. "": unknown. */
	char comm[GUEST_COMM_MAX];
	/* The fields `preempt_off`, `kind` and `rcu_nesting` are valid. */
	bool known;
	/* Interrupts are off. Valid even if `known` is not set, since it comes from RFLAGS. */
	bool irqs_off;
	/* Preemption is off, as in every kind of interrupt. */
	bool preempt_off;
	/*
	 * The CPU's preemption count, without the flag that asks the CPU to reschedule (include/linux/preempt.h): bits 0 to 7
	 * count preempt_disable(), bits 8 to 15 disabled softirqs. If `preempt_off` is set and this is 0, the count was not
	 * recorded.
	 */
	uint32_t preempt_count;
	/* enum guest_context_kind */
	uint8_t kind;
	/* `rcu_nesting` is valid. A kernel with CONFIG_PREEMPT_RCU=n does not count read-side critical sections. */
	bool rcu_known;
	/*
	 * Nesting depth of rcu_read_lock() in the CPU's task. In an interrupt, the handler's sections add to those of the
	 * interrupted task.
	 */
	uint32_t rcu_nesting;
};

/*
 * The kernel's taint flags (tainted_mask): events that make the kernel's own reports less trustworthy. Bits as in
 * Documentation/admin-guide/tainted-kernels.rst.
 */
struct guest_taint {
	/* False: the flags could not be read, or the report has none. */
	bool known;
	/* 0: not tainted. */
	uint64_t flags;
};

#define GUEST_PAGE_STRUCT_MAX 256 /* bytes; stock kernels have 64 */

/* A copy of a struct page of the guest. */
struct guest_page {
	/* The page frame number: the page's GPA divided by the page size. */
	uint64_t pfn;
	/* GVA of the struct page. */
	uint64_t info;
	/* The bytes of the struct page. */
	uint8_t copy[GUEST_PAGE_STRUCT_MAX];
};

/* The kernel's metadata for the page at a GPA, at one moment. */
struct guest_page_state {
	uint64_t gpa;
	/* `page` and `head` are valid. */
	bool page_known, head_known;
	/* The struct page of the GPA. */
	struct guest_page page;
	/* The struct page of the compound page's head. A page outside of a compound page is its own head. */
	struct guest_page head;
};

enum guest_memory_kind {
	GUEST_MEMORY_UNKNOWN,
	GUEST_MEMORY_KERNEL,  /* the kernel image: a variable of the kernel */
	GUEST_MEMORY_MODULE,  /* a variable of a module */
	GUEST_MEMORY_PER_CPU, /* a CPU's copy of a per-CPU variable or, without a symbol, of a dynamic per-CPU allocation */
	GUEST_MEMORY_SLAB,    /* an object of a slab cache, or the space between objects */
	GUEST_MEMORY_STACK,   /* the stack of a task, interrupt or exception */
	/* a page table; kernels before 6.10 do not mark these pages, which then are GUEST_MEMORY_PAGE */
	GUEST_MEMORY_PAGE_TABLE,
	GUEST_MEMORY_PAGE_INFO, /* a struct page */
	GUEST_MEMORY_VMALLOC,	/* other memory in the vmalloc area */
	GUEST_MEMORY_PAGE,	/* other memory in the direct map of all RAM */
	GUEST_MEMORY_USER,	/* an address in user space */
};

/* Whether SLUB has merged a slab cache with caches of other users, so that its objects have different types. */
enum guest_merged {
	GUEST_MERGED_UNKNOWN,
	GUEST_MERGED_NO,
	GUEST_MERGED_YES,
};

/*
 * What an address belongs to. The object, if known, is a variable (for a per-CPU variable: one CPU's copy), a slab object, a
 * stack or a struct page.
 */
struct guest_memory {
	/* enum guest_memory_kind */
	uint8_t kind;
	/* The variable, for the kinds KERNEL, MODULE and PER_CPU. Name "": unknown. */
	struct guest_symbol symbol;
	/* The CPU whose copy of the per-CPU variable this is, for kind PER_CPU. Otherwise -1. */
	int cpu;
	/* The name of the slab cache, for kind SLAB. The name of a merged cache is its first user's (hv/race/slab_name.h). */
	char cache[64];
	/* enum guest_merged: whether the slab cache is merged, for kind SLAB. */
	uint8_t merged;
	/* GVA of the object. 0: unknown; then object_size and offset are 0. */
	uint64_t object;
	uint32_t object_size;
	/*
	 * Offset of the address in the object, in bytes. For kind SLAB it may be object_size or more, since the allocator keeps
	 * metadata after an object.
	 */
	uint32_t offset;
	/* The name of the object's struct. "": unknown, or not a struct. Always "" for an object of a merged cache. */
	char type[64];
	/* The accessed member, by btf_path_at(). */
	char member[128];
};

/* How the CPU entered the kernel: what the outermost call of a call stack shows. */
enum guest_origin {
	GUEST_ORIGIN_UNKNOWN, /* unwinding did not reach the kernel entry, or ended at unknown code */
	GUEST_ORIGIN_SYSCALL,
	GUEST_ORIGIN_EXCEPTION,
	GUEST_ORIGIN_INTERRUPT,
	GUEST_ORIGIN_NMI,
	GUEST_ORIGIN_KTHREAD,
	GUEST_ORIGIN_IDLE, /* a CPU's idle task, or the start of the kernel */
};

/* One frame of a call stack. */
struct guest_frame {
	/* The frame's program counter, a GVA. */
	uint64_t pc;
	/* RSP in this frame, as in struct unwind_frame. Not stored in reports. */
	uint64_t sp;
	/* The meaning of `pc`: enum unwind_kind. */
	uint8_t kind;
	/* enum guest_context_kind */
	uint8_t context;
	/* False if the unwinder guessed this frame or a frame further in, towards the innermost frame. */
	bool reliable;
	/*
	 * The function that contains the frame's instruction. For kind UNWIND_CALL, this instruction is the call before `pc`.
	 * Name "": unknown.
	 */
	struct guest_symbol symbol;
};

/* The call stack of a stopped CPU. */
struct guest_calls {
	unsigned count;
	enum guest_origin origin;
	/* At least one frame of the call stack is not reliable. */
	bool guessed;
	/* Why unwinding ended at the last frame. */
	enum unwind_end end;
	/* Why the unwinder first had to guess a frame. If no frame was guessed, the same as `end`. */
	enum unwind_end why;
	/*
	 * For each stack, the offset in bytes of the lowest word that unwinding needed. The stack's bytes below that offset
	 * were not needed.
	 */
	uint32_t used_from[GUEST_STACKS_MAX];
	/*
	 * The frames of the call stack, innermost first. Owned by the caller, which provides room for UNWIND_FRAMES_MAX frames.
	 */
	struct guest_frame *frames;
};

#endif
