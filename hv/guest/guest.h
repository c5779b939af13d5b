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
#include "hv/race/facts.h"
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

/*
 * The stacks that a CPU's calls are on, innermost first: out[0] is the current one from RSP up; then, on an interrupt or
 * exception stack, those that were interrupted, from where they are in use or, where that cannot be told, the whole task stack.
 * Returns how many, at least 1. Reads a few words of guest memory: fine in a callback.
 */
unsigned guest_stacks(const struct guest *g, const struct x86_regs *regs, struct guest_stack out[GUEST_STACKS_MAX]);

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

enum guest_event_kind {
	GUEST_EVENT_MODULE_GOING, /* a module's text is about to be freed: guest_module_going() says whose */
	GUEST_EVENT_DEBUG_REGS,	  /* the guest has changed this CPU's debug registers */
};

/*
 * A place in the guest's text where something happens that the detector must know of at that moment. The instruction is one
 * that target_can_emulate() accepts, so that a breakpoint there never has to be lifted.
 */
struct guest_event_site {
	enum guest_event_kind kind;
	struct insn insn;
};

/*
 * The event sites of the kernel, in an array that the caller must free(). Returns how many there are. None, with *out NULL, is
 * no error: then modules are watched by polling alone. When memory runs out some are missing.
 */
size_t guest_event_sites(const struct guest *g, struct guest_event_site **out);

/* At GUEST_EVENT_MODULE_GOING: whose text goes. False: a module never reported as loaded. */
bool guest_module_going(struct guest *g, const struct x86_regs *regs, uint64_t *base, uint64_t *size);

/* Whether `addr` is in a module that said so: nothing may be planted there any more. */
bool guest_text_going(struct guest *g, uint64_t addr);

/* ---- names ---- */

/* The function that contains `addr`, in the kernel or a module loaded now. 0 or -1. */
int guest_symbol_at(const struct guest *g, uint64_t addr, struct guest_symbol *out);

/* ---- memory ---- */

/*
 * Copies it, for guest_memory_at(): soon an object there may be freed, and its page be another's. Without the kernel's types,
 * or where they lead nowhere, nothing is known but the GPA. Reads two structs at most: fine in a callback.
 */
void guest_page_state(const struct guest *g, uint64_t gpa, struct guest_page_state *out);

/*
 * What was at `gva` when the CPU with these registers accessed `size` bytes there and their page was in this state. From the
 * guest's own tables, without debug files: some hundred words of guest memory are read, so not for a callback. Of those, caches
 * and chunks of per-CPU memory outlive their objects.
 */
void guest_memory_at(const struct guest *g, const struct x86_regs *regs, const struct guest_page_state *page, uint64_t gva,
		     uint32_t size, struct guest_memory *out);

/* ---- calls ---- */

/*
 * Unwind from `regs` with copies of the stacks that guest_stacks() gave then, n <= GUEST_STACKS_MAX. `context` is what
 * guest_context() said. Reads the kernel's unwind tables in guest memory, some thousand words: not for a callback.
 */
void guest_unwind(const struct guest *g, const struct x86_regs *regs, const struct guest_context *context,
		  const struct unwind_stack *stacks, unsigned n, struct guest_calls *out);

#endif
