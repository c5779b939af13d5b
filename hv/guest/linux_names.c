/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds symbols of the kernel and its modules, by address or by name. */
#include "hv/guest/linux_names.h"

#include <stdio.h>
#include <string.h>

#include "hv/guest/linux_guest.h"

static void fill_symbol(struct guest_symbol *out, const char *module, const struct symbol *sym)
{
	snprintf(out->module, sizeof(out->module), "%s", module);
	snprintf(out->name, sizeof(out->name), "%s", sym->name);
	out->addr = sym->addr;
	out->size = sym->size;
}

static bool has_init_text(const struct loaded_module *lm, uint64_t addr)
{
	return lm->coming && addr >= lm->init.start && addr < lm->init.end;
}

bool linux_module_has_text(const struct loaded_module *lm, uint64_t addr)
{
	return addr - lm->m.base < lm->m.size || has_init_text(lm, addr);
}

/*
 * Returns the module whose text contains `addr`, or NULL. Text of init functions comes last: the entry of a module keeps its
 * range for a moment after the kernel has freed it, and another module's text may be there by now.
 */
static const struct guest_module *module_at(const struct guest *g, uint64_t addr)
{
	const struct guest_module *initialising = NULL;

	for (size_t i = 0; i < g->module_count; i++) {
		const struct loaded_module *lm = g->modules[i];

		if (addr - lm->m.base < lm->m.size)
			return &lm->m;
		if (has_init_text(lm, addr))
			initialising = &lm->m;
	}
	return initialising;
}

int guest_symbol_at(const struct guest *cg, uint64_t addr, struct guest_symbol *out)
{
	struct guest *g = (struct guest *)cg; /* not const, because its lock is taken */
	const struct guest_module *m;
	const struct symtab *symbols;
	struct symbol sym;
	int ret = -1;

	pthread_rwlock_rdlock(&g->modules_lock);
	m = module_at(g, addr);
	symbols = m ? m->symbols : g->symtab;
	if (symbols && symtab_at(symbols, addr, &sym) == 0) {
		fill_symbol(out, m ? m->name : "", &sym);
		ret = 0;
	}
	pthread_rwlock_unlock(&g->modules_lock);
	return ret;
}

int linux_module_symbol_at(const struct guest *cg, uint64_t addr, struct guest_symbol *out)
{
	struct guest *g = (struct guest *)cg; /* not const, because its lock is taken */
	struct symbol sym;
	int ret = -1;

	pthread_rwlock_rdlock(&g->modules_lock);
	for (size_t i = 0; i < g->module_count && ret; i++) {
		const struct guest_module *m = &g->modules[i]->m;

		if (!m->symbols || symtab_at(m->symbols, addr, &sym))
			continue;
		fill_symbol(out, m->name, &sym);
		ret = 0;
	}
	pthread_rwlock_unlock(&g->modules_lock);
	return ret;
}

uint64_t guest_symbol_address(const struct guest *cg, const char *module, const char *name)
{
	struct guest *g = (struct guest *)cg; /* not const, because its lock is taken */
	uint64_t address = 0;

	if (!module[0])
		return g->symtab ? symtab_addr(g->symtab, name) : 0;
	pthread_rwlock_rdlock(&g->modules_lock);
	for (size_t i = 0; i < g->module_count && !address; i++) {
		const struct guest_module *m = &g->modules[i]->m;

		if (m->symbols && strcmp(m->name, module) == 0)
			address = symtab_addr(m->symbols, name);
	}
	pthread_rwlock_unlock(&g->modules_lock);
	return address;
}
