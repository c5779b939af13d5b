/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a guest's kernel at one moment, and kept in the record of a race: symbols, who ran, which calls led there,
 * what the memory was. Plain data; hv/guest finds it out, the record keeps it, and all that reads the record needs no guest.
 */
#ifndef OUTRIDER_RACE_FACTS_H
#define OUTRIDER_RACE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/unwind/unwind.h"

#define GUEST_STACKS_MAX 3

struct guest_symbol {
	char module[64]; /* "" for the kernel itself */
	char name[128];
	/* Of the function or variable: run-time GVA, or of a per-CPU variable what its symbol says; and bytes. */
	uint64_t addr, size;
};

struct guest_context {
	int32_t pid; /* -1: unknown */
	char comm[16];
	bool known; /* the three below are */
	bool irqs_off;
	bool preempt_off; /* includes every kind of interrupt */
	uint8_t kind;	  /* enum guest_context_kind */
};

enum guest_context_kind { GUEST_TASK, GUEST_SOFTIRQ, GUEST_HARDIRQ, GUEST_NMI };

#define GUEST_PAGE_STRUCT_MAX 256

/* A struct page: a copy of it, `info` where it is. */
struct guest_page {
	uint64_t pfn, info;
	uint8_t copy[GUEST_PAGE_STRUCT_MAX];
};

/* What the kernel keeps on the page of a GPA, as it was at one moment. */
struct guest_page_state {
	uint64_t gpa;
	bool page_known, head_known;
	struct guest_page page, head; /* head: of pages that belong together the first; a page on its own is its own */
};

enum guest_memory_kind {
	GUEST_MEMORY_UNKNOWN,
	GUEST_MEMORY_KERNEL,	 /* the kernel's image: a variable of its */
	GUEST_MEMORY_MODULE,	 /* a module's variable */
	GUEST_MEMORY_PER_CPU,	 /* a CPU's copy: of a variable, or, without a symbol, of what was allocated for each CPU */
	GUEST_MEMORY_SLAB,	 /* an object of a slab cache, or what is between them */
	GUEST_MEMORY_STACK,	 /* of a task, an interrupt or an exception */
	GUEST_MEMORY_PAGE_TABLE, /* told by kernels since 6.10; before they are pages */
	GUEST_MEMORY_PAGE_INFO,	 /* a struct page */
	GUEST_MEMORY_VMALLOC,	 /* other memory that was mapped where there was room for it */
	GUEST_MEMORY_PAGE,	 /* other RAM, where all of it is mapped */
	GUEST_MEMORY_USER,
};

/*
 * What there is at an address. The object is what it is part of: the variable (of per-CPU ones that CPU's copy), slab object,
 * stack, struct page.
 */
struct guest_memory {
	uint8_t kind;		    /* enum guest_memory_kind */
	struct guest_symbol symbol; /* KERNEL, MODULE, PER_CPU: the variable; name "": none known */
	int cpu;		    /* PER_CPU: whose it is; else -1 */
	char cache[64];		    /* SLAB: the cache's name */
	uint64_t object;	    /* GVA of the object; 0: none known, and then */
	uint32_t object_size;	    /* bytes that it has, and */
	uint32_t offset;  /* how far into it the address is, are 0; SLAB: behind object_size is what the allocator keeps */
	char type[64];	  /* a struct's name, if the object is known to be one, */
	char member[128]; /* and btf_path_at() of the access in it */
};

/* What the outermost call was made for. */
enum guest_origin {
	GUEST_ORIGIN_UNKNOWN, /* the stack could not be followed so far, or to something unknown */
	GUEST_ORIGIN_SYSCALL,
	GUEST_ORIGIN_EXCEPTION,
	GUEST_ORIGIN_INTERRUPT,
	GUEST_ORIGIN_NMI,
	GUEST_ORIGIN_KTHREAD,
	GUEST_ORIGIN_IDLE, /* a CPU's own first task, and the kernel's start */
};

struct guest_frame {
	uint64_t pc;
	uint8_t kind;	 /* enum unwind_kind */
	uint8_t context; /* enum guest_context_kind */
	bool reliable;
	struct guest_symbol symbol; /* of the instruction: of a call, that before pc. name "": unknown */
};

/* The calls that led to where a CPU stopped. */
struct guest_calls {
	unsigned count;
	enum guest_origin origin;
	bool guessed;			      /* some frames are not reliable, */
	enum unwind_end end, why;	      /* why there are no more frames; what the first guess was for */
	uint32_t used_from[GUEST_STACKS_MAX]; /* of each stack: what is below was not needed */
	/* The calls, innermost first. They are not owned: whoever has them found brings room for UNWIND_FRAMES_MAX of them. */
	struct guest_frame *frames;
};

#endif
