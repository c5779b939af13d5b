/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the instructions of Linux that need a hook. free_module() frees a module's text: afterwards none of the detector's
 * INT3s may be in that memory. arch_install_hw_breakpoint() and arch_uninstall_hw_breakpoint() change debug registers, for
 * both ptrace and perf (arch/x86/kernel/hw_breakpoint.c).
 */
#include <fnmatch.h>

#include "hv/base/grow.h"
#include "hv/guest/linux_guest.h"
#include "hv/target/emulate.h"
#include "symbols/insn/flow.h"

#define CODE_MAX 2048u /* bytes; a larger function is not searched */

static bool is_push(const struct insn *insn)
{
	uint8_t op = insn->len == 2 && insn->bytes[0] == 0x41 ? insn->bytes[1] : insn->bytes[0];

	return insn->len <= 2 && op >= 0x50 && op <= 0x57;
}

bool guest_is_return_thunk(const struct guest *g, uint64_t gva)
{
	struct symbol thunk;

	return symtab_at(g->symtab, gva, &thunk) == 0 && thunk.addr == gva && fnmatch("*return_thunk", thunk.name, 0) == 0;
}

/* Returns whether the instruction is a return: `ret` or, with mitigations for CPU bugs, a jump to a return thunk. */
static bool is_return(const struct guest *g, const struct insn *insn)
{
	struct insn_branch jump;

	if (insn->len == 1 && insn->bytes[0] == 0xc3)
		return true;
	if (insn->len != 5 || insn->bytes[0] != 0xe9 || !insn_direct_branch(insn, &jump))
		return false;
	return guest_is_return_thunk(g, jump.target);
}

struct finder {
	const struct guest *g;
	struct insn_decoder *decoder;
	struct guest_hook_site *sites;
	size_t count;
};

static int add_site(struct finder *f, enum guest_hook_kind kind, const struct insn *insn)
{
	struct guest_hook_site *to = list_grow(&f->sites, &f->count, sizeof(*to), NULL);

	if (!to)
		return -1;
	*to = (struct guest_hook_site){.kind = kind, .insn = *insn};
	return 0;
}

/*
 * Add hook sites in function `name`: with `entry`, the first push; otherwise all returns. The first push is in the prologue,
 * after fentry's no-op, which the kernel patches at run time.
 */
static void find_sites(struct finder *f, const char *name, enum guest_hook_kind kind, bool entry)
{
	uint8_t code[CODE_MAX];
	struct symbol fn;
	struct insn insn;
	unsigned len;

	if (symtab_find(f->g->symtab, name, &fn) || fn.size > sizeof(code) || guest_read(f->g, fn.addr, code, fn.size))
		return;
	for (uint64_t at = 0; at < fn.size; at += len) {
		len = insn_decode(f->decoder, code + at, fn.size - at, fn.addr + at, &insn);
		if (!len || (entry && (insn.flags & INSN_BRANCH)))
			return;
		if (!target_can_emulate(&insn) || !(entry ? is_push(&insn) : is_return(f->g, &insn)))
			continue;
		if (add_site(f, kind, &insn) || entry)
			return;
	}
}

size_t guest_hook_sites(const struct guest *g, struct guest_hook_site **out)
{
	struct finder f = {.g = g, .decoder = insn_decoder_new()};

	*out = NULL;
	if (!f.decoder)
		return 0;
	find_sites(&f, "free_module", GUEST_HOOK_MODULE_GOING, true);
	find_sites(&f, "arch_install_hw_breakpoint", GUEST_HOOK_DEBUG_REGS, false);
	find_sites(&f, "arch_uninstall_hw_breakpoint", GUEST_HOOK_DEBUG_REGS, false);
	insn_decoder_free(f.decoder);
	*out = f.sites;
	return f.count;
}

/* At the entry of free_module(struct module *mod), RDI points to the module. */
bool guest_module_going(struct guest *g, const struct x86_regs *regs, uint64_t *base, uint64_t *size)
{
	bool found = false;

	pthread_rwlock_rdlock(&g->modules_lock);
	atomic_store(&g->freed[atomic_fetch_add(&g->freed_count, 1) % FREED_KEPT], regs->gpr[X86_RDI]);
	for (size_t i = 0; i < g->module_count && !found; i++) {
		struct loaded_module *lm = g->modules[i];

		if (lm->address != regs->gpr[X86_RDI])
			continue;
		atomic_store(&lm->going, true);
		*base = lm->m.base;
		*size = lm->m.size;
		found = true;
	}
	pthread_rwlock_unlock(&g->modules_lock);
	return found;
}

enum guest_text guest_text_state(struct guest *g, uint64_t addr)
{
	enum guest_text state = GUEST_TEXT_FINAL;

	pthread_rwlock_rdlock(&g->modules_lock);
	for (size_t i = 0; i < g->module_count; i++) {
		struct loaded_module *lm = g->modules[i];

		if (addr - lm->m.base >= lm->m.size)
			continue;
		if (atomic_load(&lm->going))
			state = GUEST_TEXT_GOING;
		else if (lm->coming && state == GUEST_TEXT_FINAL)
			state = GUEST_TEXT_COMING;
	}
	pthread_rwlock_unlock(&g->modules_lock);
	return state;
}
