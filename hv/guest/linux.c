/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches a Linux guest from outside until its text is final. The text is final when system_state is SYSTEM_RUNNING: the kernel
 * sets this state after the last boot-time patching and after mark_rodata_ro() (init/main.c, kernel_init()).
 */
#include "hv/guest/linux_context.h"
#include "hv/guest/linux_exclude.h"
#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_log.h"
#include "hv/guest/linux_memory.h"
#include "hv/guest/linux_modules.h"
#include "hv/guest/linux_orc.h"
#include "hv/guest/linux_search.h"
#include "hv/guest/linux_stack.h"

#include <stdlib.h>

#define EFER_LMA (1ull << 10) /* IA32_EFER.LMA: the CPU is in long mode (SDM vol. 3, 2.2.1) */

static int reader_read(void *ctx, uint64_t gva, void *buf, size_t len)
{
	return guest_read(ctx, gva, buf, len);
}

static int poll_read(void *ctx, uint64_t gva, void *buf, size_t len)
{
	struct guest *g = ctx;

	return atomic_load(&g->polls_cancelled) ? -1 : g->reader.read(g->reader.ctx, gva, buf, len);
}

void guest_cancel_polls(struct guest *g)
{
	atomic_store(&g->polls_cancelled, true);
}

struct guest *guest_new(struct target *target, const char *symbols, const struct guest_symbol_files *files, struct err *err)
{
	struct guest *g = calloc(1, sizeof(*g));

	if (!g) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	g->target = target;
	g->reader = (struct guest_reader){.read = reader_read, .ctx = g};
	g->poll_reader = (struct guest_reader){.read = poll_read, .ctx = g};
	g->source = GUEST_OWN_TABLES;
	if (files)
		g->files = *files;
	pthread_rwlock_init(&g->modules_lock, NULL);
	if (symbols) {
		g->symtab = symtab_load(symbols, err);
		g->source = symbols;
		g->from_file = true;
		if (!g->symtab) {
			guest_free(g);
			return NULL;
		}
	}
	return g;
}

void guest_free(struct guest *g)
{
	if (!g)
		return;
	linux_free_modules(g);
	pthread_rwlock_destroy(&g->modules_lock);
	btf_free(g->btf);
	symtab_free(g->symtab);
	free(g);
}

/*
 * Look up SYSTEM_RUNNING once: a lookup by name in BTF takes longer than the rest of a poll, and polling goes on until the
 * kernel has booted.
 */
static void find_running_state(struct guest *g)
{
	g->running_state = 3;
	if (g->btf)
		btf_enumerator(g->btf, "SYSTEM_RUNNING", &g->running_state);
}

static bool text_is_final(const struct guest *g)
{
	uint64_t at = symtab_addr(g->symtab, "system_state");
	uint32_t state;

	return at && guest_read(g, at, &state, sizeof(state)) == 0 && state >= g->running_state;
}

/* Use the kernel's own page tables, which no process frees. Returns -1 if they are not known, or cannot be read now. */
static int use_kernel_tables(struct guest *g)
{
	uint64_t top = symtab_addr(g->symtab, "init_top_pgt"), cr3 = g->cr3, gpa;

	if (!top)
		top = symtab_addr(g->symtab, "swapper_pg_dir");
	if (!top || guest_translate(g, top, &gpa))
		return -1;
	g->cr3 = gpa;
	/* Early in boot, these page tables do not map the kernel yet. */
	if (guest_translate(g, top, &gpa) == 0 && gpa == g->cr3)
		return 0;
	g->cr3 = cr3;
	return -1;
}

/* BTF is optional. Without it, task names and modules are unknown. */
static void find_btf(struct guest *g)
{
	g->btf = btf_from_guest(&g->poll_reader, g->symtab, NULL);
}

static int become_ready(struct guest *g, const struct x86_regs *regs, struct err *err)
{
	if (use_kernel_tables(g) < 0) {
		if (linux_may_be_hidden(g, regs))
			return 0;
		return err_set(err, EXIT_INPUT,
			       "%s: the symbol init_top_pgt is missing or wrong, so the kernel's page tables cannot be found",
			       g->source);
	}
	/* An earlier find_btf() may have failed because it used the page tables of a process that ended. Try again. */
	if (!g->btf)
		find_btf(g);
	linux_find_build_id(g);
	linux_find_excluded(g);
	linux_find_context(g);
	linux_find_stacks(g);
	linux_find_memory(g);
	linux_find_unwind(g);
	linux_find_log(g, &g->log);
	g->stage = LINUX_READY;
	atomic_store(&g->progress, GUEST_READY);
	return 1;
}

int guest_poll(struct guest *g, struct err *err)
{
	struct x86_regs regs;
	int found;

	if (g->stage == LINUX_READY)
		return 1;
	if (atomic_load(&g->polls_cancelled))
		return 0;
	if (target_peek_regs(g->target, 0, &regs))
		return 0;
	/*
	 * Some targets do not report the IDT's address. Use the address that the IDT has in every kernel once the IDT is final.
	 */
	if (!regs.idt_base)
		regs.idt_base = LINUX_FINAL_IDT;
	if (!(regs.efer & EFER_LMA) || !x86_kernel_address(regs.idt_base))
		return 0;
	g->cr3 = regs.cr3;
	g->cr4 = regs.cr4;
	if (g->stage == LINUX_SEARCHING) {
		found = linux_search(g, &regs, err);
		if (found <= 0) {
			atomic_store(&g->progress, GUEST_SEARCHED);
			return found;
		}
		use_kernel_tables(g);
		find_btf(g);
		find_running_state(g);
		g->stage = LINUX_BOOTING;
		atomic_store(&g->progress, GUEST_BOOTING);
	}
	return text_is_final(g) ? become_ready(g, &regs, err) : 0;
}

enum guest_progress guest_progress(const struct guest *g)
{
	return (enum guest_progress)atomic_load(&g->progress);
}

const char *guest_banner(const struct guest *g)
{
	return g->banner;
}

uint64_t guest_slide(const struct guest *g)
{
	return g->slide;
}

const char *guest_symbol_source(const struct guest *g)
{
	return g->source;
}

const char *guest_symbols_refused(const struct guest *g)
{
	return g->refused[0] ? g->refused : NULL;
}

size_t guest_build_id(const struct guest *g, const uint8_t **id)
{
	*id = g->build_id;
	return g->build_id_len;
}

const struct symtab *guest_symtab(const struct guest *g)
{
	return g->symtab;
}
