/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about the guest's kernel that differ between kernels: where it is, when its text is final, which text must not carry a
 * breakpoint, its modules, and the running contexts. hv/guest/linux*.c implement this for Linux; another kernel would need
 * another such set of files.
 *
 * Only the sampler's thread may call guest_poll() and guest_poll_modules(), and only the reporter's thread may call
 * guest_poll_complaints(). Once guest_poll() has returned 1, any thread may call the other functions, except where noted. "In a
 * callback" means in a callback of the target, with a CPU stopped: only functions that read a few words of guest memory may be
 * called there.
 *
 * All GVAs are run-time addresses, with KASLR's slide. Sizes are in bytes.
 */
#ifndef OUTRIDER_GUEST_GUEST_H
#define OUTRIDER_GUEST_GUEST_H

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"
#include "hv/race/complaint.h"
#include "hv/race/facts.h"
#include "hv/target/target.h"
#include "symbols/insn/insn.h"
#include "symbols/modules/modules.h"
#include "symbols/tables/symtab.h"
#include "symbols/unwind/unwind.h"

struct guest;

/* Finds a kernel's vmlinux, for when the tables in guest memory are unusable. */
struct guest_symbol_files {
	/*
	 * Returns the path of the file with build id `id` of `len` bytes, or NULL if there is none. The path must stay valid
	 * until the guest is freed. Called on the thread of guest_poll().
	 */
	const char *(*find)(void *ctx, const uint8_t *id, size_t len);
	void *ctx;
};

/*
 * `symbols` is the path of a vmlinux or a System.map. The file is loaded at once; guest_poll() checks whether it belongs to
 * this kernel. NULL: use the kallsyms tables in guest memory. `files` is copied and may be NULL. `target` and the string
 * `symbols` must outlive the guest. Returns NULL with `err` set if the file cannot be read or memory runs out.
 */
struct guest *guest_new(struct target *target, const char *symbols, const struct guest_symbol_files *files, struct err *err);

/* `g` may be NULL. */
void guest_free(struct guest *g);

/*
 * Check whether the kernel is found and its text is final. Returns 1 if so. Returns 0 if not yet; call again after some
 * milliseconds. Returns -1 with `err` set if there is no kernel with usable symbols. Until the function has returned 1, each
 * call briefly stops a CPU. Not in a callback.
 */
int guest_poll(struct guest *g, struct err *err);

/* How far guest_poll() has come, in order. */
enum guest_progress {
	GUEST_SEARCHED, /* no kernel found yet */
	GUEST_READING,	/* a kernel seems to be there; reading its symbols */
	GUEST_BOOTING,	/* the kernel is found, but its text may still change */
	GUEST_READY,	/* guest_poll() returns 1 */
};

/* Any thread. */
enum guest_progress guest_progress(const struct guest *g);

/*
 * Make running and future calls of guest_poll() and guest_poll_modules() return soon: reading the tables of a hostile guest
 * can take long, and a user who ends the run must not have to wait for that. Known facts stay valid. Any thread.
 */
void guest_cancel_polls(struct guest *g);

/* Returns "Linux version 6.1.0-..." once the kernel is found, before that "". Owned by the guest. */
const char *guest_banner(const struct guest *g);

/* Returns the KASLR slide of the kernel image. */
uint64_t guest_slide(const struct guest *g);

/* Returns the source of the symbols for the report: the path of a file, or GUEST_OWN_TABLES. */
const char *guest_symbol_source(const struct guest *g);

#define GUEST_OWN_TABLES "the guest's kallsyms"

/*
 * Returns one line that says why the requested symbols were rejected and others are in use, or NULL if the requested ones are
 * in use.
 */
const char *guest_symbols_refused(const struct guest *g);

/* Set *id to the kernel's build id and return its length, 0 if unknown. Valid after guest_poll() has returned 1. */
size_t guest_build_id(const struct guest *g, const uint8_t **id);

/* Returns the kernel's symbols with run-time addresses. Valid from when guest_poll() has returned 1 until guest_free(). */
const struct symtab *guest_symtab(const struct guest *g);

/*
 * Copy kernel memory through the kernel's own page tables, independent of the running task. Returns 0, or -1 if any byte is
 * unmapped.
 */
int guest_read(const struct guest *g, uint64_t gva, void *buf, size_t len);

/* Translate a kernel GVA by the kernel's own page tables. Returns 0, or -1 if it is unmapped. */
int guest_translate(const struct guest *g, uint64_t gva, uint64_t *gpa);

/*
 * Returns true if a function may carry sample points. Functions in noinstr, entry or init text may not, nor functions that
 * implement a lock (list in linux_exclude.c).
 */
bool guest_may_sample(const struct guest *g, const struct symbol *function);

/*
 * Returns true if a function serves the whole kernel, so that its accesses say little about the function that calls it: the
 * allocator, copying of memory, the kernel's log, the scheduler (list in linux_common.c).
 */
bool guest_serves_all(const struct guest *g, const char *function);

/* Returns true if `gva` is on the kernel stack that RSP in `regs` points into, or less than a page above RSP. */
bool guest_on_stack(const struct x86_regs *regs, uint64_t gva);

/* Returns the lowest GVA of the kernel stack that RSP points into. */
uint64_t guest_stack_start(const struct x86_regs *regs);

/* Returns the end (GVA, exclusive) of the kernel stack that RSP points into. */
uint64_t guest_stack_end(const struct x86_regs *regs);

/* A kernel stack, or the used part of it: GVAs [start, end). */
struct guest_stack {
	uint64_t start, end;
};

/*
 * Find the stacks that hold a CPU's call chain, innermost first. out[0] is the current stack from RSP up. If the current stack
 * is an interrupt or exception stack, the stacks that were interrupted follow. Each of them begins at the stack pointer that
 * was interrupted; if this pointer is unknown, the whole task stack follows instead. Returns the number of stacks, at least 1.
 * Reads a few words of guest memory: allowed in a callback.
 */
unsigned guest_stacks(const struct guest *g, const struct x86_regs *regs, struct guest_stack out[GUEST_STACKS_MAX]);

/* Determine the context that runs on the CPU with these registers. Reads a few words of guest memory: allowed in a callback. */
void guest_context(const struct guest *g, const struct x86_regs *regs, struct guest_context *out);

/*
 * Determine only the kind of the context, and whether interrupts and preemption are off, but not the task. This is enough to
 * choose a delay. Reads one word of guest memory: allowed in a callback.
 */
void guest_context_brief(const struct guest *g, const struct x86_regs *regs, struct guest_context *out);

/* Returns the pid of the task whose task_struct is at the GVA `task`, or -1 if it is unknown. */
int32_t guest_task_pid(const struct guest *g, uint64_t task);

/* Returns the GVA of the function in which a task goes to sleep, or 0 if unknown. */
uint64_t guest_sleep_function(const struct guest *g);

/*
 * Returns true if the kernel's type information says that a function returns void. The type information lacks modules'
 * functions. Takes about a millisecond, so do not call it per hit.
 */
bool guest_returns_nothing(const struct guest *g, const struct guest_symbol *function);

/*
 * Returns whether the function is known to return a value, by the kernel's BTF. False for functions of modules, whose types are
 * not read.
 */
bool guest_returns_value(const struct guest *g, const struct guest_symbol *function);

/* Returns the GPA of the kernel's console log level (an int of 4 bytes). Returns 0 if it is unknown. Reads page tables. */
uint64_t guest_console_level(const struct guest *g);

/*
 * Read the kernel's taint flags. The flags are unknown if the kernel's symbols lack tainted_mask, or this variable cannot be
 * read. Reads one word of guest memory.
 */
void guest_taint(const struct guest *g, struct guest_taint *out);

/*
 * Read what the kernel has written to its log since the last call, and pass each whole complaint to `found`, with its time_ns
 * not set. The first call, after guest_poll() has returned 1, only finds the end of the log. A complaint is whole when its last
 * line came, or when no line came for a second. `last`: this is the last call, so a complaint that is not whole is passed, too.
 * Returns false if the kernel's log cannot be read (Linux before 5.10, or without type information). Reads one word of guest
 * memory if the log is unchanged. Not in a callback.
 */
bool guest_poll_complaints(struct guest *g, bool last, void (*found)(void *ctx, const struct complaint *c), void *ctx);

/* ---- modules ---- */

struct guest_module {
	char name[64];
	/* GVA and size of the text. */
	uint64_t base, size;
	/* NULL: the module's symbol table could not be read. */
	struct symtab *symbols;
	/* Unique per entry: a module gets a new one when its init function has returned, and when it is loaded again. */
	uint64_t generation;
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	/* 0: unknown. */
	size_t build_id_len;
	/* The sections, without init sections, which the kernel frees after initialisation. */
	struct image_section *sections;
	unsigned nsections;
};

struct guest_module_events {
	/*
	 * A module is live, which means that its init function has returned, and its text is final. `m` is valid until `gone`
	 * returns. Of modules that are found together, those that were loaded earlier come first: so a module comes after the
	 * modules whose functions it calls.
	 */
	void (*loaded)(void *ctx, const struct guest_module *m);
	/* The guest is unloading a module, or has unloaded it. The module's text must not be changed any more. */
	void (*gone)(void *ctx, const struct guest_module *m);
	void *ctx;
};

/*
 * Compare the guest's list of modules with its last state and report changes. Cheap if there are none. If adding many new
 * modules takes longer than 300 ms, the next call adds the remaining modules. A module whose init function still runs has names
 * already (guest_symbol_at(), guest_each_module()), except for functions that the guest frees after it. It is reported as
 * loaded when the init function has returned.
 *
 * Returns whether all modules are known now. They are not if the list could not be read, for example because it was changing,
 * or if modules remain to be added.
 */
bool guest_poll_modules(struct guest *g, const struct guest_module_events *events);

/* Returns a number that changes when guest_each_module() has another module, one module fewer, or one that was read again. */
uint64_t guest_modules_version(const struct guest *g);

/*
 * Call `each` for every known module, in no particular order. `m` is valid during the call. `each` must not call functions of
 * the guest.
 */
void guest_each_module(const struct guest *g, void (*each)(void *ctx, const struct guest_module *m), void *ctx);

/* ---- hooks ---- */

enum guest_hook_kind {
	GUEST_HOOK_MODULE_GOING, /* a module's text is about to be freed: guest_module_going() says which one */
	GUEST_HOOK_DEBUG_REGS,	 /* the guest has changed this CPU's debug registers */
	GUEST_HOOK_LOCK,	 /* a lock function is called; the detector, not guest_hook_sites(), finds these sites */
};

/*
 * An instruction in the guest's text that the detector must act on whenever a CPU executes it. target_can_emulate() accepts the
 * instruction, so its breakpoint can stay armed.
 */
struct guest_hook_site {
	enum guest_hook_kind kind;
	struct insn insn;
};

/*
 * Find the hook sites of the kernel. Sets *out to an array, which the caller must free(), and returns its length. If there is
 * no hook site, returns 0 and sets *out to NULL. This is no error, but then only guest_poll_modules() notices that a module is
 * unloaded. If memory runs out, some sites are missing.
 */
size_t guest_hook_sites(const struct guest *g, struct guest_hook_site **out);

/*
 * Find the text that the guest is about to free, and set *base and *size to its GVA and its length. Call this function when a
 * CPU is at a GUEST_HOOK_MODULE_GOING, with the CPU's registers before the instruction. Returns false if the module is not
 * known. Allowed in a callback.
 */
bool guest_module_going(struct guest *g, const struct x86_regs *regs, uint64_t *base, uint64_t *size);

/* Whether text may be changed, such as by planting a breakpoint. */
enum guest_text {
	/* It may: the text stays until guest_module_going() or guest_module_events.gone tells that it goes. */
	GUEST_TEXT_FINAL,
	/* It may not yet: its module's init function still runs, and guest_module_events.gone does not tell if that fails. */
	GUEST_TEXT_COMING,
	/* It may not any more: guest_module_going() or guest_module_events.gone was called for its module. */
	GUEST_TEXT_GOING,
};

/* Returns the state of the text at `addr`: GUEST_TEXT_FINAL if it is in no module. Allowed in a callback. */
enum guest_text guest_text_state(struct guest *g, uint64_t addr);

/* ---- names ---- */

/*
 * Find the function that contains `addr`, in the kernel or a known module (guest_poll_modules()). Returns 0, or -1 if there is
 * none.
 */
int guest_symbol_at(const struct guest *g, uint64_t addr, struct guest_symbol *out);

/*
 * Returns whether a return thunk is at `gva` (__x86_return_thunk, srso_return_thunk and others). With mitigations for CPU bugs,
 * functions return by a jump to it.
 */
bool guest_is_return_thunk(const struct guest *g, uint64_t gva);

/*
 * Returns the GVA of a function or variable of the kernel (`module` is "") or of a loaded module, or 0 if there is none. If
 * several symbols have this name, returns the GVA of one of them.
 */
uint64_t guest_symbol_address(const struct guest *g, const char *module, const char *name);

/*
 * Returns the offset in bytes of the pointer `member` in the kernel's struct `type`, or 0 if the kernel's BTF does not name
 * such a pointer, or names it at the start. Searches the BTF: not in a callback.
 */
uint32_t guest_pointer_offset(const struct guest *g, const char *type, const char *member);

/* ---- memory ---- */

/*
 * Copy the kernel's metadata for the page of a GPA, for guest_memory_at(). Call it at the conflict: the object may soon be
 * freed, and its page reused. If the kernel's types are unknown or the structures are invalid, only the GPA is known. Reads at
 * most two structs: allowed in a callback.
 */
void guest_page_state(const struct guest *g, uint64_t gpa, struct guest_page_state *out);

/* Returns true if the kernel maps this GVA to this GPA. Reads page tables: allowed in a callback. */
bool guest_is_at(const struct guest *g, uint64_t gva, uint64_t gpa);

/*
 * Returns the GVA of this GPA in the kernel image or in the direct map, or 0 if it is in neither, or the kernel's memory layout
 * is unknown. Reads page tables: allowed in a callback.
 */
uint64_t guest_mapped_at(const struct guest *g, uint64_t gpa);

/*
 * Determine what `gva` belonged to when the CPU with these registers accessed `size` bytes there, and its page was in the state
 * `page`. Uses the guest's own data structures, no debug files. These structures are read now, not at the time of the access,
 * which is sound as long as slab caches and per-CPU chunks outlive their objects. Reads some hundred words of guest memory: not
 * in a callback.
 */
void guest_memory_at(const struct guest *g, const struct x86_regs *regs, const struct guest_page_state *page, uint64_t gva,
		     uint32_t size, struct guest_memory *out);

/* An object of a slab cache. */
struct guest_object {
	uint64_t gva;
	uint64_t cache; /* GVA of its struct kmem_cache */
	uint32_t size;	/* bytes */
};

/*
 * Where guest_lost_objects() looks for the first pointers besides all memory that is in no slab: in the listed objects, and in
 * the registers of the CPUs.
 */
struct guest_roots {
	const struct guest_object *object; /* objects that count as pointed to */
	size_t count;
	const struct x86_regs *regs; /* the registers of all `cpus` CPUs; cpus 0: unknown */
	size_t cpus;
	/*
	 * True: ignore the stack of a running task if no known stack pointer of a CPU is in this stack. False: look for
	 * pointers in this whole stack.
	 */
	bool empty_stacks;
};

/*
 * Find the slab objects that are in use but that nothing points to, not even through other objects, as kmemleak does. Call this
 * function while the guest stands still. It reads all memory of the guest: some 100 ms for each 256 MiB of RAM. Returns 0 and
 * sets *out to a list in the order of the addresses, which the caller frees. Returns -1 and sets *out to NULL if these objects
 * cannot be found, for example because:
 * - the layout of the kernel's structures is unknown (kernels without BTF, or with the SLAB allocator);
 * - a CPU's list of free objects is invalid, maybe because the CPU was stopped while it changed the list;
 * - RAM ends above 4 GiB, as in guests with more than 3 GiB; or
 * - memory runs out.
 * In either case, sets *twice to an object that is on lists of free objects twice: it was freed twice, or something has written
 * to a free object. twice->gva is 0 if there is none, or if this is unknown, as in a kernel before 5.15 when a CPU has turned
 * interrupts off.
 */
int guest_lost_objects(const struct guest *g, const struct guest_roots *more, struct guest_object **out, size_t *count,
		       struct guest_object *twice);

struct guest_heap;

/*
 * Find out which slab objects are in use. Call it while the guest stands still. Takes some milliseconds for each 256 MiB of
 * RAM. Returns NULL if memory runs out, or if slabs or lists of free objects cannot be read (see guest_lost_objects()).
 * guest_heap_close() frees the result; `g` must outlive it.
 */
struct guest_heap *guest_heap_open(const struct guest *g);
void guest_heap_close(struct guest_heap *h);

/*
 * Make the object that contains the byte at the GVA count as not in use from now on. Does nothing if there is no such object.
 */
void guest_heap_drop(struct guest_heap *h, uint64_t gva);

/*
 * Return whether the byte at the GVA was in an object in use (guest_heap_uses()), or in a free object (guest_heap_has_free()).
 */
bool guest_heap_uses(const struct guest_heap *h, uint64_t gva);
bool guest_heap_has_free(const struct guest_heap *h, uint64_t gva);

/*
 * Store the name of a slab cache, a printable string of at most max - 1 bytes. Returns 0, or stores "" and returns -1 if there
 * is none.
 */
int guest_cache_name(const struct guest *g, uint64_t cache, char *out, size_t max);

/* ---- calls ---- */

/*
 * Unwind the call stack of a CPU from its registers. `stacks` are copies of the `n` stacks, at most GUEST_STACKS_MAX, that
 * guest_stacks() found at that time, and `context` is from guest_context(). The caller points out->frames to room for
 * UNWIND_FRAMES_MAX frames. Reads some thousand words of the kernel's unwind tables: not in a callback.
 */
void guest_unwind(const struct guest *g, const struct x86_regs *regs, const struct guest_context *context,
		  const struct unwind_stack *stacks, unsigned n, struct guest_calls *out);

/*
 * For each of the `n` instructions at `pcs`, find the distance from RSP before the instruction up to the frame's CFA, which is
 * the address directly above the function's return address. Stores the distance in bytes in frames[i], or 0 if the kernel's
 * unwind tables do not give the distance, or give the CFA relative to another register. Like guest_unwind(), not in a callback.
 */
void guest_frames(const struct guest *g, const uint64_t *pcs, size_t n, uint32_t *frames);

#endif
