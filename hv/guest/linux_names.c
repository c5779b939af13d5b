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

int guest_symbol_at(const struct guest *cg, uint64_t addr, struct guest_symbol *out)
{
	struct guest *g = (struct guest *)cg; /* not const, because its lock is taken */
	struct symbol sym;
	int ret = -1;

	pthread_rwlock_rdlock(&g->modules_lock);
	for (size_t i = 0; i < g->module_count; i++) {
		const struct guest_module *m = &g->modules[i]->m;

		if (addr - m->base >= m->size)
			continue;
		if (m->symbols && symtab_at(m->symbols, addr, &sym) == 0) {
			fill_symbol(out, m->name, &sym);
			ret = 0;
		}
		goto out;
	}
	if (g->symtab && symtab_at(g->symtab, addr, &sym) == 0) {
		fill_symbol(out, "", &sym);
		ret = 0;
	}
out:
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
