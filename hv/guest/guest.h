/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must be known of the guest's kernel and cannot be known of every kernel: where it is, when its text is final, which text
 * must never carry a breakpoint, its modules, who is running. hv/guest/linux_*.c is Linux; another kernel is another such set.
 *
 * Threads: guest_poll() and guest_poll_modules() belong to one thread (the sampler's); everything else may be called from any.
 */
#ifndef OUTRIDER_GUEST_GUEST_H
#define OUTRIDER_GUEST_GUEST_H

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"
#include "hv/target/target.h"
#include "symbols/insn/insn.h"
#include "symbols/modules/modules.h"
#include "symbols/tables/symtab.h"
#include "symbols/unwind/unwind.h"

struct guest;

/* Where to look for a kernel's vmlinux when its own tables cannot be read. */
struct guest_symbol_files {
	/* The path of the file of that build id, valid until the guest is freed; NULL: there is none. On guest_poll()'s thread.
	 */
	const char *(*find)(void *ctx, const uint8_t *id, size_t len);
	void *ctx;
};

/* `symbols`: a vmlinux or System.map, or NULL for the tables in the guest's own memory. Read at once; checked in guest_poll().
 * `files`, copied, may be NULL.
 */
struct guest *guest_new(struct target *target, const char *symbols, const struct guest_symbol_files *files, struct err *err);
void guest_free(struct guest *g);

/*
 * Look for the kernel and wait for its text to be final. 1: ready, 0: not yet, call again in some milliseconds; -1: never will
 * be (no kernel with symbols). Stops a CPU for a moment until the kernel is found, later only reads memory.
 */
int guest_poll(struct guest *g, struct err *err);

/* "Linux version 6.1.0-..." once found, else "". */
const char *guest_banner(const struct guest *g);

/* KASLR slide of the kernel image, and where names came from (for the report). */
uint64_t guest_slide(const struct guest *g);
const char *guest_symbol_source(const struct guest *g);

#define GUEST_OWN_TABLES "the guest's kallsyms"

/* One line on why the symbols that were to be used are not, others being there; NULL: they are. */
const char *guest_symbols_refused(const struct guest *g);

/* The kernel's build id and its length, or length 0: not known. Valid after guest_poll() said 1. */
size_t guest_build_id(const struct guest *g, const uint8_t **id);

/* Kernel symbols at run-time addresses. Valid after guest_poll() said 1. */
const struct symtab *guest_symtab(const struct guest *g);

/* Kernel memory through the kernel's own page tables, whatever task is running. */
int guest_read(const struct guest *g, uint64_t gva, void *buf, size_t len);
int guest_translate(const struct guest *g, uint64_t gva, uint64_t *gpa);

/* Whether a function may carry sample points at all: not noinstr, entry, init text, lock implementations (linux_exclude.c). */
bool guest_may_sample(const struct guest *g, const struct symbol *function);

/* Whether [gva, gva+size) is on the kernel stack that regs->rsp points into. */
bool guest_on_stack(const struct x86_regs *regs, uint64_t gva);

/* End of that stack (GVA, exclusive): how far a copy of it may go. */
uint64_t guest_stack_end(const struct x86_regs *regs);

/* [start, end) of a kernel stack. */
struct guest_stack {
	uint64_t start, end;
};

#define GUEST_STACKS_MAX 3

/*
 * The stacks that a CPU's calls are on, innermost first: out[0] is the current one from RSP up; then, on an interrupt or
 * exception stack, those that were interrupted, from where they are in use or, where that cannot be told, the whole task stack.
 * Returns how many, at least 1. Reads a few words of guest memory: fine in a callback.
 */
unsigned guest_stacks(const struct guest *g, const struct x86_regs *regs, struct guest_stack out[GUEST_STACKS_MAX]);

struct guest_context {
	int32_t pid; /* -1: unknown */
	char comm[16];
	bool known; /* the three below are */
	bool irqs_off;
	bool preempt_off; /* includes every kind of interrupt */
	uint8_t kind;	  /* enum guest_context_kind */
};

enum guest_context_kind { GUEST_TASK, GUEST_SOFTIRQ, GUEST_HARDIRQ, GUEST_NMI };

/* Who runs on the CPU with these registers. Reads a few words of guest memory: fine in a callback. */
void guest_context(const struct guest *g, const struct x86_regs *regs, struct guest_context *out);

/* Only interrupt and preemption state of it, for the choice of a delay. */
void guest_context_brief(const struct guest *g, const struct x86_regs *regs, struct guest_context *out);

/* ---- modules ---- */

struct guest_module {
	char name[64];
	uint64_t base, size; /* executable text, GVA and bytes */
	struct symtab *symbols;
	uint64_t generation; /* unique for each time a module is loaded */
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	size_t build_id_len; /* 0: not known */
	struct image_section *sections;
	unsigned nsections;
};

struct guest_module_events {
	/* Live and its text final; `m` stays valid until `gone` returned. */
	void (*loaded)(void *ctx, const struct guest_module *m);
	/* Being unloaded or unloaded: nothing may be planted in it any more. */
	void (*gone)(void *ctx, const struct guest_module *m);
	void *ctx;
};

/* Compare the module list with what was last seen and report what changed. Cheap when nothing did. */
void guest_poll_modules(struct guest *g, const struct guest_module_events *events);

/* Changes whenever a module comes or goes. Any thread. */
uint64_t guest_modules_version(const struct guest *g);

/* Every module known, in no order, each valid during the call only. `each` must not call back into the guest. Any thread. */
void guest_each_module(const struct guest *g, void (*each)(void *ctx, const struct guest_module *m), void *ctx);

/* ---- events ---- */

/*
 * Places in the guest's text where something happens that the detector must know of at that moment. The instruction at each is
 * one that the detector can carry out itself (push, ret, direct jmp), so a breakpoint there never has to be lifted.
 */
enum guest_event_kind {
	GUEST_EVENT_MODULE_GOING, /* ask guest_module_going() */
	GUEST_EVENT_DEBUG_REGS,	  /* this CPU's debug registers were changed by the guest */
};

struct guest_event_site {
	enum guest_event_kind kind;
	struct insn insn;
};

#define GUEST_EVENT_SITES_MAX 16

/* Fill out[] (at most max); returns how many. None is no error: then modules are watched by polling alone. */
unsigned guest_event_sites(const struct guest *g, struct guest_event_site out[], unsigned max);

/* At GUEST_EVENT_MODULE_GOING: whose text goes. False: a module never reported as loaded. */
bool guest_module_going(struct guest *g, const struct x86_regs *regs, uint64_t *base, uint64_t *size);

/* Whether `addr` is in a module that said so: nothing may be planted there any more. */
bool guest_text_going(struct guest *g, uint64_t addr);

/* ---- names ---- */

struct guest_symbol {
	char module[64]; /* "" for the kernel itself */
	char name[128];
	/* Of the function or variable: run-time GVA, or of a per-CPU variable what its symbol says; and bytes. */
	uint64_t addr, size;
};

/* The function that contains `addr`, in the kernel or a module loaded now. 0 or -1. */
int guest_symbol_at(const struct guest *g, uint64_t addr, struct guest_symbol *out);

/* ---- memory ---- */

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

/*
 * Copies it, for guest_memory_at(): soon an object there may be freed, and its page be another's. Without the kernel's types,
 * or where they lead nowhere, nothing is known but the GPA. Reads two structs at most: fine in a callback.
 */
void guest_page_state(const struct guest *g, uint64_t gpa, struct guest_page_state *out);

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

/*
 * What was at `gva` when the CPU with these registers accessed `size` bytes there and their page was in this state. From the
 * guest's own tables, without debug files: some hundred words of guest memory are read, so not for a callback. Of those, caches
 * and chunks of per-CPU memory outlive their objects.
 */
void guest_memory_at(const struct guest *g, const struct x86_regs *regs, const struct guest_page_state *page, uint64_t gva,
		     uint32_t size, struct guest_memory *out);

/* ---- calls ---- */

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

/* Innermost first. 26 KiB: not for a stack of ours. */
struct guest_calls {
	unsigned count;
	enum guest_origin origin;
	bool guessed;			      /* some frames are not reliable, */
	enum unwind_end end, why;	      /* why there are no more frames; what the first guess was for */
	uint32_t used_from[GUEST_STACKS_MAX]; /* of each stack: what is below was not needed */
	struct guest_frame frames[UNWIND_FRAMES_MAX];
};

/*
 * Unwind from `regs` with copies of the stacks that guest_stacks() gave then, n <= GUEST_STACKS_MAX. `context` is what
 * guest_context() said. Reads the kernel's unwind tables in guest memory, some thousand words: not for a callback.
 */
void guest_unwind(const struct guest *g, const struct x86_regs *regs, const struct guest_context *context,
		  const struct unwind_stack *stacks, unsigned n, struct guest_calls *out);

#endif
