/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must be known of the guest's kernel, and is different for each kernel: where it is, when its text is final, which text
 * must never carry a breakpoint, which modules it has, and who is running. hv/guest/linux*.c are Linux; another kernel is
 * another such set of files.
 *
 * guest_poll() and guest_poll_modules() belong to one thread, the sampler's. All other functions may be called from any thread
 * once guest_poll() has returned 1, except where noted. "In a callback" means in a callback of the target's, with a CPU
 * stopped: there only what is bounded to a few reads of guest memory may be done.
 *
 * All GVAs are run-time addresses, with the kernel's slide in them. Sizes are in bytes.
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
	/*
	 * Return the path of the file with the build id of `len` bytes at `id`, or NULL when there is none. The path must stay
	 * valid until the guest is freed. Called on the thread of guest_poll().
	 */
	const char *(*find)(void *ctx, const uint8_t *id, size_t len);
	void *ctx;
};

/*
 * `symbols` is the path of a vmlinux or a System.map. It is read at once, and guest_poll() checks whether it is this kernel's.
 * NULL: take the symbols from the tables in the guest's own memory. `files` is copied and may be NULL. `target` and the string
 * `symbols` must outlive the guest. Returns NULL with `err` set when the file cannot be read or memory runs out.
 */
struct guest *guest_new(struct target *target, const char *symbols, const struct guest_symbol_files *files, struct err *err);

/* `g` may be NULL. */
void guest_free(struct guest *g);

/*
 * Look for the kernel and wait for its text to be final. Returns 1 when it is, and 0 when it is not yet: call again in some
 * milliseconds. Returns -1 with `err` set when it never will be, for there is no kernel with symbols. Stops a CPU for a moment
 * in each call until 1 is returned. Not in a callback.
 */
int guest_poll(struct guest *g, struct err *err);

/*
 * Make guest_poll() and guest_poll_modules() return soon, now and whenever they are called later: a guest can make up so much
 * that reading it takes long, and the user who wants to end must not wait for it. What is known of the guest stays known. Any
 * thread.
 */
void guest_cancel_polls(struct guest *g);

/* "Linux version 6.1.0-..." once the kernel is found, and "" before. The string belongs to the guest. */
const char *guest_banner(const struct guest *g);

/* The KASLR slide of the kernel image. */
uint64_t guest_slide(const struct guest *g);

/* Where the names came from, for the report: the path of a file, or GUEST_OWN_TABLES. */
const char *guest_symbol_source(const struct guest *g);

#define GUEST_OWN_TABLES "the guest's kallsyms"

/*
 * One line on why the symbols that were to be used are not, while others are used instead. NULL: those that were to be used
 * are.
 */
const char *guest_symbols_refused(const struct guest *g);

/* Set *id to the kernel's build id and return its length. Length 0: it is not known. Valid after guest_poll() returned 1. */
size_t guest_build_id(const struct guest *g, const uint8_t **id);

/* The kernel's symbols at run-time addresses. Valid after guest_poll() returned 1, until the guest is freed. */
const struct symtab *guest_symtab(const struct guest *g);

/* Copy kernel memory through the kernel's own page tables, whatever task is running. 0, or -1 when any byte is not mapped. */
int guest_read(const struct guest *g, uint64_t gva, void *buf, size_t len);

/* Translate a kernel GVA with the kernel's own page tables. 0, or -1 when it is not mapped. */
int guest_translate(const struct guest *g, uint64_t gva, uint64_t *gpa);

/*
 * Whether a function may carry sample points at all. It may not if it is noinstr, entry or init text, or a lock's
 * implementation (linux_exclude.c lists them).
 */
bool guest_may_sample(const struct guest *g, const struct symbol *function);

/* Whether `gva` is on the kernel stack that RSP in `regs` points into, or little above RSP. */
bool guest_on_stack(const struct x86_regs *regs, uint64_t gva);

/* The lowest GVA of the kernel stack that RSP points into. */
uint64_t guest_stack_start(const struct x86_regs *regs);

/* The end (GVA, exclusive) of the kernel stack that RSP points into: how far a copy of it may go. */
uint64_t guest_stack_end(const struct x86_regs *regs);

/* A kernel stack, or its part that is in use: the GVAs from `start` up to but not including `end`. */
struct guest_stack {
	uint64_t start, end;
};

/*
 * The stacks that a CPU's calls are on, innermost first. out[0] is the current stack from RSP up. If that is an interrupt or
 * exception stack, the stacks that were interrupted follow, each from where it is in use, or the whole task stack where that
 * cannot be told. Returns how many there are, at least 1. Reads a few words of guest memory: fine in a callback.
 */
unsigned guest_stacks(const struct guest *g, const struct x86_regs *regs, struct guest_stack out[GUEST_STACKS_MAX]);

/* Who runs on the CPU with these registers. Reads a few words of guest memory: fine in a callback. */
void guest_context(const struct guest *g, const struct x86_regs *regs, struct guest_context *out);

/*
 * The same without the task: only the state of interrupts and preemption, for the choice of a delay. Reads one word of guest
 * memory: fine in a callback.
 */
void guest_context_brief(const struct guest *g, const struct x86_regs *regs, struct guest_context *out);

/* GVA of the function by which a task goes to sleep. 0: not known. */
uint64_t guest_sleep_function(const struct guest *g);

/*
 * Whether a function is known to return nothing, by the kernel's own type information, which has no modules' functions. Takes
 * about a millisecond: not for each hit.
 */
bool guest_returns_nothing(const struct guest *g, const struct guest_symbol *function);

/* GPA of the level of messages that the kernel's console shows, an int of 4 bytes. 0: not known. Reads page tables. */
uint64_t guest_console_level(const struct guest *g);

/*
 * Read the kernel's taint flags. They are not known when the kernel's symbols have no tainted_mask, or it cannot be read. Reads
 * one word of guest memory.
 */
void guest_taint(const struct guest *g, struct guest_taint *out);

/* ---- modules ---- */

struct guest_module {
	char name[64];
	/* Its executable text: the GVA and the size. */
	uint64_t base, size;
	/* NULL: the module's own table could not be read. */
	struct symtab *symbols;
	/* Unique for each time that a module is loaded. */
	uint64_t generation;
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	/* 0: the build id is not known. */
	size_t build_id_len;
	/* Its sections, without those that are freed when the module is up. */
	struct image_section *sections;
	unsigned nsections;
};

struct guest_module_events {
	/* A module is live and its text is final. `m` stays valid until `gone` has returned. */
	void (*loaded)(void *ctx, const struct guest_module *m);
	/* A module is being unloaded, or has been: nothing may be planted in it any more. */
	void (*gone)(void *ctx, const struct guest_module *m);
	void *ctx;
};

/*
 * Compare the guest's module list with what was last seen, and report what changed. Cheap when nothing did. When there are so
 * many new modules that it would take long, the rest of them is left to the next call.
 */
void guest_poll_modules(struct guest *g, const struct guest_module_events *events);

/* A number that changes whenever a module comes or goes. */
uint64_t guest_modules_version(const struct guest *g);

/*
 * Call `each` for every module known, in no order. `m` is valid during the call only. `each` must not call back into the guest.
 */
void guest_each_module(const struct guest *g, void (*each)(void *ctx, const struct guest_module *m), void *ctx);

/* ---- events ---- */

enum guest_event_kind {
	GUEST_EVENT_MODULE_GOING, /* a module's text is about to be freed: guest_module_going() says whose */
	GUEST_EVENT_DEBUG_REGS,	  /* the guest has changed this CPU's debug registers */
	GUEST_EVENT_LOCK,	  /* a lock function is called; found by the detector, not by guest_event_sites() */
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

/*
 * At the instruction of a GUEST_EVENT_MODULE_GOING, with the CPU's registers before it: which text is about to be freed. False:
 * the module was never reported as loaded. Fine in a callback.
 */
bool guest_module_going(struct guest *g, const struct x86_regs *regs, uint64_t *base, uint64_t *size);

/* Whether guest_module_going() was called for the module with `addr` in its text: nothing may be planted there any more. */
bool guest_text_going(struct guest *g, uint64_t addr);

/* ---- names ---- */

/* The function that contains `addr`, in the kernel or in a module that is loaded now. Returns 0, or -1 when none is known. */
int guest_symbol_at(const struct guest *g, uint64_t addr, struct guest_symbol *out);

/* ---- memory ---- */

/*
 * Copy what the kernel keeps on the page of a GPA, for guest_memory_at(): an object there may soon be freed, and its page may
 * then be used for something else. When the kernel's types are not known, or lead nowhere, nothing is known but the GPA. Reads
 * two structs at most: fine in a callback.
 */
void guest_page_state(const struct guest *g, uint64_t gpa, struct guest_page_state *out);

/* Whether the kernel has this GPA at this GVA. Reads page tables: fine in a callback. */
bool guest_is_at(const struct guest *g, uint64_t gva, uint64_t gpa);

/*
 * The GVA at which the kernel has this GPA: in its image or where it maps all RAM. 0: it is not mapped there, or the kernel's
 * memory is not known. Reads page tables: fine in a callback.
 */
uint64_t guest_mapped_at(const struct guest *g, uint64_t gpa);

/*
 * What was at `gva` when the CPU with these registers accessed `size` bytes there, and the page of `gva` was in the state
 * `page`. The answer is from the guest's own tables, without debug files. Those are read now and not as they were then, which
 * is sound as far as slab caches and chunks of per-CPU memory outlive their objects. Reads some hundred words of guest memory:
 * not for a callback.
 */
void guest_memory_at(const struct guest *g, const struct x86_regs *regs, const struct guest_page_state *page, uint64_t gva,
		     uint32_t size, struct guest_memory *out);

/* ---- calls ---- */

/*
 * Unwind the calls of a CPU from its registers. `stacks` are copies of the `n` stacks that guest_stacks() gave at that time, at
 * most GUEST_STACKS_MAX, and `context` is what guest_context() said. The caller lets out->frames point to room for
 * UNWIND_FRAMES_MAX frames. Reads the kernel's unwind tables in guest memory, some thousand words: not for a callback.
 */
void guest_unwind(const struct guest *g, const struct x86_regs *regs, const struct guest_context *context,
		  const struct unwind_stack *stacks, unsigned n, struct guest_calls *out);

#endif
