/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a guest's kernel at one moment, and kept in the record of a race: symbols, who ran, which calls led there,
 * and what the memory was. Plain data: hv/guest finds it out, the record keeps it, and all that reads the record needs no
 * guest. GVAs are run-time addresses; sizes are in bytes.
 */
#ifndef OUTRIDER_RACE_FACTS_H
#define OUTRIDER_RACE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/clean.h"
#include "symbols/unwind/unwind.h"

#define GUEST_STACKS_MAX 3
/* Bytes of a task's name, made printable, with the NUL. The kernel's own names have up to 15 bytes. */
#define GUEST_COMM_MAX CLEAN_MAX(15)

/* A function or a variable. */
struct guest_symbol {
	/* "": the kernel itself. */
	char module[64];
	char name[128];
	/* The GVA of its start. Of a per-CPU variable this is the value of its symbol, which is no CPU's copy. */
	uint64_t addr;
	uint64_t size;
};

enum guest_context_kind { GUEST_TASK, GUEST_SOFTIRQ, GUEST_HARDIRQ, GUEST_NMI };

/* Who runs on a CPU. */
struct guest_context {
	/* -1: the task is not known. */
	int32_t pid;
	/* GVA of the task's struct, which is current. 0: it is not known. It is not recorded. */
	uint64_t task;
	/* The name of the task. "": it is not known. */
	char comm[GUEST_COMM_MAX];
	/* The three fields below are known. */
	bool known;
	/* Interrupts are off. Set from the CPU's flags even where the rest is not known. */
	bool irqs_off;
	/* Preemption is off, which includes every kind of interrupt. */
	bool preempt_off;
	/* enum guest_context_kind */
	uint8_t kind;
	/* `rcu_nesting` is known. It is not where the kernel counts no RCU sections, as with CONFIG_PREEMPT_RCU=n. */
	bool rcu_known;
	/*
	 * How many RCU read-side critical sections the CPU's task is in, from rcu_read_lock() alone. In an interrupt these are
	 * the sections of the handler and of the task that it interrupted.
	 */
	uint32_t rcu_nesting;
};

/*
 * The kernel's taint flags, tainted_mask: what has happened to the kernel that makes its reports doubtful. The bits are those
 * of Documentation/admin-guide/tainted-kernels.rst.
 */
struct guest_taint {
	/* False: the flags could not be read, or were not recorded. */
	bool known;
	/* 0: the kernel is not tainted. */
	uint64_t flags;
};

#define GUEST_PAGE_STRUCT_MAX 256

/* A struct page of the guest's. */
struct guest_page {
	/* The page frame number: the page's GPA divided by the page size. */
	uint64_t pfn;
	/* The GVA of the struct page. */
	uint64_t info;
	/* A copy of the struct page. */
	uint8_t copy[GUEST_PAGE_STRUCT_MAX];
};

/* What the kernel keeps on the page of a GPA, as it was at one moment. */
struct guest_page_state {
	uint64_t gpa;
	/* Whether `page` and `head` were found. */
	bool page_known, head_known;
	/* The struct page of the GPA. */
	struct guest_page page;
	/* The struct page of the first of the pages that belong together with this one. A page on its own is its own head. */
	struct guest_page head;
};

enum guest_memory_kind {
	GUEST_MEMORY_UNKNOWN,
	GUEST_MEMORY_KERNEL,	 /* the kernel's image, so a variable of the kernel's */
	GUEST_MEMORY_MODULE,	 /* a variable of a module's */
	GUEST_MEMORY_PER_CPU,	 /* a CPU's copy of a variable or, without a symbol, of what was allocated for each CPU */
	GUEST_MEMORY_SLAB,	 /* an object of a slab cache, or what is between such objects */
	GUEST_MEMORY_STACK,	 /* the stack of a task, an interrupt or an exception */
	GUEST_MEMORY_PAGE_TABLE, /* a page table; kernels before 6.10 do not tell, and there it is GUEST_MEMORY_PAGE */
	GUEST_MEMORY_PAGE_INFO,	 /* a struct page */
	GUEST_MEMORY_VMALLOC,	 /* other memory in the area where the kernel maps memory page by page */
	GUEST_MEMORY_PAGE,	 /* other memory in the direct map, where all RAM is mapped */
	GUEST_MEMORY_USER,	 /* an address of user space */
};

/*
 * What there is at an address. If the address is part of an object, the object is a variable (of a per-CPU variable one CPU's
 * copy), a slab object, a stack or a struct page.
 */
struct guest_memory {
	/* enum guest_memory_kind */
	uint8_t kind;
	/* The variable, of kinds KERNEL, MODULE and PER_CPU. Name "": the variable is not known. */
	struct guest_symbol symbol;
	/* The CPU whose copy it is, of kind PER_CPU. Else -1. */
	int cpu;
	/* The name of the cache, of kind SLAB. */
	char cache[64];
	/* The GVA of the object. 0: no object is known, and object_size and offset are 0. */
	uint64_t object;
	uint32_t object_size;
	/*
	 * How far into the object the address is. Of kind SLAB it may be object_size or more: behind an object the allocator
	 * keeps data of its own.
	 */
	uint32_t offset;
	/* The name of the struct that the object is. "": the object is not known to be a struct. */
	char type[64];
	/* What btf_path_at() says of the access in that struct. */
	char member[128];
};

/* What the outermost call was made for. */
enum guest_origin {
	GUEST_ORIGIN_UNKNOWN, /* the stack could not be followed so far, or leads to something unknown */
	GUEST_ORIGIN_SYSCALL,
	GUEST_ORIGIN_EXCEPTION,
	GUEST_ORIGIN_INTERRUPT,
	GUEST_ORIGIN_NMI,
	GUEST_ORIGIN_KTHREAD,
	GUEST_ORIGIN_IDLE, /* a CPU's own first task, or the start of the kernel */
};

/* One call. */
struct guest_frame {
	uint64_t pc;
	/* RSP in this frame, as in struct unwind_frame. It is not recorded. */
	uint64_t sp;
	/* enum unwind_kind: what `pc` is. */
	uint8_t kind;
	/* enum guest_context_kind */
	uint8_t context;
	/* False: this frame is a guess, or was found after a guess. */
	bool reliable;
	/* The function of the instruction. Of kind UNWIND_CALL that is the call before `pc`. Name "": it is not known. */
	struct guest_symbol symbol;
};

/* The calls that led to where a CPU stopped. */
struct guest_calls {
	unsigned count;
	enum guest_origin origin;
	/* Some frames are not reliable. */
	bool guessed;
	/* Why there are no more frames. */
	enum unwind_end end;
	/* What the first guess was needed for. Without a guess it is the same as `end`. */
	enum unwind_end why;
	/* For each stack, how many bytes at its start were not needed. */
	uint32_t used_from[GUEST_STACKS_MAX];
	/* The calls, innermost first. They are not owned: whoever has them found brings room for UNWIND_FRAMES_MAX of them. */
	struct guest_frame *frames;
};

#endif
