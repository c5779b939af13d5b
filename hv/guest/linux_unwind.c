// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinds the stacks of a Linux guest: selects the unwind table for a PC, and interprets the functions at kernel entries. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_orc.h"
#include "symbols/insn/flow.h"

#define RETPOLINE_MAX 32 /* bytes (RETPOLINE_THUNK_SIZE in arch/x86/lib/retpoline.S) */

struct unwinding {
	struct guest *g; /* not const, because its lock is taken */
	/*
	 * The guest's own list of modules, for a PC in no known text: a module gets into g->modules only at the next poll, and
	 * the text of its init functions is not searched there. `listed`: the list was read, or reading it has failed.
	 */
	bool listed;
	struct module_info *list;
	size_t count;
};

/* ---- tables ---- */

static bool within(uint64_t addr, uint64_t start, uint64_t size)
{
	return addr - start < size;
}

static bool kernel_text(const struct guest *g, uint64_t pc)
{
	return pc >= g->kernel_text.start && pc < g->kernel_text.end;
}

/* Returns true if a module's text contains `pc`. Copies its unwind table to *table, unless `table` is NULL. */
static bool loaded_table(struct guest *g, uint64_t pc, struct orc_table *table)
{
	bool found = false;

	pthread_rwlock_rdlock(&g->modules_lock);
	for (size_t i = 0; i < g->module_count && !found; i++) {
		const struct loaded_module *lm = g->modules[i];

		found = within(pc, lm->m.base, lm->m.size);
		if (found && table)
			*table = lm->orc;
	}
	pthread_rwlock_unlock(&g->modules_lock);
	return found;
}

static const struct module_info *coming_module(struct unwinding *u, uint64_t pc)
{
	struct guest *g = u->g;

	if (!u->listed && g->btf && modules_read(&g->reader, g->symtab, g->btf, &u->list, &u->count, NULL))
		u->count = 0;
	u->listed = true;
	for (size_t i = 0; i < u->count; i++) {
		const struct module_info *m = &u->list[i];

		if (within(pc, m->init_text, m->init_text_size) || within(pc, m->text, m->text_size))
			return m;
	}
	return NULL;
}

/*
 * If the instruction is in a retpoline (__x86_indirect_thunk_rax and the like), store in *out an unwind rule for it. The
 * kernel's tables have no rule, or a wrong one (arch/x86/lib/retpoline.S: UNWIND_HINT_EMPTY or UNWIND_HINT_UNDEFINED up to the
 * last instruction). A retpoline pushes nothing, so the return address to its caller is at RSP, with one exception: the
 * retpoline may call an instruction a few bytes further on, which replaces the return address of this call by the address to
 * jump to. From that instruction on, the return address to the caller is one word above RSP.
 */
static void find_retpoline_rule(const struct guest *g, uint64_t pc, struct orc_rule *out)
{
	uint8_t code[RETPOLINE_MAX];
	struct symbol symbol;
	int32_t distance;

	if (symtab_at(g->symtab, pc, &symbol) ||
	    (fnmatch("__x86_indirect_*", symbol.name, 0) != 0 && fnmatch("__x86_retpoline_*", symbol.name, 0) != 0) ||
	    guest_read(g, symbol.addr, code, sizeof(code)))
		return;
	*out = (struct orc_rule){.type = ORC_CALL, .sp_base = ORC_BASE_SP, .bp_base = ORC_BASE_NONE, .sp_offset = sizeof(pc)};
	for (size_t end = X86_CALL_LEN; end <= sizeof(code); end++) {
		memcpy(&distance, code + end - sizeof(distance), sizeof(distance));
		if (code[end - X86_CALL_LEN] == X86_CALL && distance > 0 && (size_t)distance < sizeof(code) - end &&
		    pc - symbol.addr >= end + (size_t)distance)
			out->sp_offset = 2 * sizeof(pc);
	}
}

static int find_rule(void *ctx, uint64_t pc, struct orc_rule *out)
{
	struct unwinding *u = ctx;
	const struct module_info *coming;
	struct orc_table table = {0};

	if (!u->g->orc_format.size)
		return -1;
	if (kernel_text(u->g, pc)) {
		table = u->g->orc;
	} else if (!loaded_table(u->g, pc, &table)) {
		coming = coming_module(u, pc);
		if (coming)
			linux_find_module_unwind(u->g, coming->addr, &table);
	}
	if (!table.count || orc_find_rule(&u->g->reader, &u->g->orc_format, &table, pc, out))
		return -1;
	if (kernel_text(u->g, pc))
		find_retpoline_rule(u->g, pc, out);
	return 0;
}

/* ---- return addresses ---- */

static bool returns_to(void *ctx, uint64_t pc)
{
	struct unwinding *u = ctx;
	uint8_t code[INSN_CALL_LEN_MAX];

	if (!(kernel_text(u->g, pc - 1) || loaded_table(u->g, pc - 1, NULL)) ||
	    guest_read(u->g, pc - sizeof(code), code, sizeof(code)))
		return false;
	return insn_call_may_end(code, sizeof(code));
}

/* ---- interpretation ---- */

/*
 * The outermost functions of a stack, or of the part of a stack that one context uses: kernel entries and first functions of
 * tasks. Each function is given by a prefix of its name.
 */
static const struct entry {
	const char *prefix;
	enum guest_origin origin;
	/* The enum guest_context_kind of the function's callees. -1: the same as that of the function's caller. */
	int context;
} entries[] = {
	{"entry_SYS", GUEST_ORIGIN_SYSCALL, -1},
	{"entry_INT80", GUEST_ORIGIN_SYSCALL, -1},
	{"asm_int80_emulation", GUEST_ORIGIN_SYSCALL, -1},
	{"asm_exc_nmi", GUEST_ORIGIN_NMI, GUEST_NMI},
	{"first_nmi", GUEST_ORIGIN_NMI, GUEST_NMI},
	{"end_repeat_nmi", GUEST_ORIGIN_NMI, GUEST_NMI},
	{"asm_exc_", GUEST_ORIGIN_EXCEPTION, -1},
	{"asm_sysvec_", GUEST_ORIGIN_INTERRUPT, GUEST_HARDIRQ},
	{"asm_common_interrupt", GUEST_ORIGIN_INTERRUPT, GUEST_HARDIRQ},
	{"asm_spurious_interrupt", GUEST_ORIGIN_INTERRUPT, GUEST_HARDIRQ},
	{"ret_from_fork", GUEST_ORIGIN_KTHREAD, -1},
	{"secondary_startup_64", GUEST_ORIGIN_IDLE, -1},
	{"common_startup_64", GUEST_ORIGIN_IDLE, -1},
	{"x86_64_start_", GUEST_ORIGIN_IDLE, -1},
	{"start_kernel", GUEST_ORIGIN_IDLE, -1},
	{"handle_softirqs", GUEST_ORIGIN_UNKNOWN, GUEST_SOFTIRQ},
	{"__do_softirq", GUEST_ORIGIN_UNKNOWN, GUEST_SOFTIRQ},
	{"__softirqentry_text_start", GUEST_ORIGIN_UNKNOWN, GUEST_SOFTIRQ},
};

static const struct entry *entry_of(const struct guest_frame *frame)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries) && !frame->symbol.module[0]; i++) {
		if (strncmp(frame->symbol.name, entries[i].prefix, strlen(entries[i].prefix)) == 0)
			return &entries[i];
	}
	return NULL;
}

static enum guest_origin find_origin(const struct guest_calls *calls)
{
	const struct entry *entry = entry_of(&calls->frames[calls->count - 1]);

	if (!entry || (calls->end != UNWIND_USER && calls->end != UNWIND_FIRST))
		return GUEST_ORIGIN_UNKNOWN;
	/*
	 * A new process begins in ret_from_fork, like a kernel thread, but returns to user mode from there. So a stack that
	 * ends in user mode is not that of a kernel thread.
	 */
	if (calls->end == UNWIND_USER && entry->origin == GUEST_ORIGIN_KTHREAD)
		return GUEST_ORIGIN_SYSCALL;
	return entry->origin;
}

/*
 * Assign contexts from the outermost frame inwards. The outermost frame of a complete stack is in task context. If the stack is
 * incomplete, the outermost frame is unknown, so assume the context of the stop for all frames.
 */
static void find_contexts(struct guest_calls *calls, const struct guest_context *context)
{
	uint8_t kind = GUEST_TASK;

	if (calls->end != UNWIND_USER && calls->end != UNWIND_FIRST && context->known)
		kind = context->kind;
	for (unsigned i = calls->count; i-- > 0;) {
		const struct entry *entry = entry_of(&calls->frames[i]);

		if (entry && entry->context >= 0)
			kind = (uint8_t)entry->context;
		calls->frames[i].context = kind;
	}
}

static void name_frame(const struct guest *g, const struct unwind_frame *from, struct guest_frame *to)
{
	to->pc = from->pc;
	to->sp = from->sp;
	to->kind = from->kind;
	to->reliable = from->reliable;
	if (guest_symbol_at(g, from->kind == UNWIND_CALL ? from->pc - 1 : from->pc, &to->symbol))
		to->symbol = (struct guest_symbol){0};
}

void guest_unwind(const struct guest *g, const struct x86_regs *regs, const struct guest_context *context,
		  const struct unwind_stack *stacks, unsigned n, struct guest_calls *out)
{
	struct unwinding u = {.g = (struct guest *)g};
	const struct unwind_source source = {.rule = find_rule, .returns_to = returns_to, .ctx = &u};
	struct unwind found;

	unwind(regs, stacks, n, &source, &found);
	free(u.list);
	out->count = found.count;
	out->end = found.end;
	out->guessed = found.guessed;
	out->why = found.guessed ? found.trouble : found.end;
	for (unsigned i = 0; i < found.count; i++)
		name_frame(g, &found.frames[i], &out->frames[i]);
	for (unsigned i = 0; i < n; i++)
		out->used_from[i] = found.used_from[i];
	out->origin = find_origin(out);
	find_contexts(out, context);
}

void guest_frames(const struct guest *g, const uint64_t *pcs, size_t n, uint32_t *frames)
{
	struct unwinding u = {.g = (struct guest *)g};
	struct orc_rule rule;

	for (size_t i = 0; i < n; i++) {
		bool known = find_rule(&u, pcs[i], &rule) == 0 && rule.type == ORC_CALL && rule.sp_base == ORC_BASE_SP &&
			     rule.sp_offset > 0;

		frames[i] = known ? (uint32_t)rule.sp_offset : 0;
	}
	free(u.list);
}
