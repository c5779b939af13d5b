/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracks the guest's modules by walking the guest's list from outside. */
#include "hv/guest/linux_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clock.h"
#include "hv/base/grow.h"
#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_orc.h"

/*
 * Limit on the memory for all modules' symbols. All modules of a stock kernel together need a tenth of it. A hostile guest can
 * present the same pages as the tables of thousands of modules. Modules beyond the limit have no names, and so are not sampled.
 */
#define SYMBOLS_MAX (256u << 20)
/* Time limit for adding modules in one poll: 300 ms. In a lab (an emulated host), a module of a stock kernel takes some ms. */
#define POLL_NS 300000000u
#define BAD_TABLE (1u << 20) /* bytes that are charged for a symbol table that could not be read */

static void free_module(struct loaded_module *lm)
{
	symtab_free(lm->m.symbols);
	free(lm->m.sections);
	free(lm);
}

void linux_free_modules(struct guest *g)
{
	for (size_t i = 0; i < g->module_count; i++)
		free_module(g->modules[i]);
	free(g->modules);
	g->modules = NULL;
	g->module_count = 0;
}

static bool is_same_module(const struct loaded_module *lm, const struct module_info *info)
{
	return lm->address == info->addr && lm->m.base == info->text && lm->m.size == info->text_size &&
	       strcmp(lm->m.name, info->name) == 0;
}

/* Returns whether the guest may have begun to free the module at this address since the poll began. */
static bool may_be_freed(const struct guest *g, uint64_t address)
{
	unsigned end = atomic_load(&g->freed_count);
	bool freed = end - g->freed_seen > FREED_KEPT;

	for (unsigned i = g->freed_seen; i != end && !freed; i++)
		freed = atomic_load(&g->freed[i % FREED_KEPT]) == address;
	return freed;
}

/*
 * Add the entry to g->modules, or put it in place of `old`, which is freed. Fails if the guest began to free the module since
 * the poll began, when there was no entry that could be marked as going.
 */
static int publish_module(struct guest *g, struct loaded_module *lm, struct loaded_module *old)
{
	struct loaded_module **to = NULL;
	bool freed;

	pthread_rwlock_wrlock(&g->modules_lock);
	freed = may_be_freed(g, lm->address);
	for (size_t i = 0; old && !freed && !to && i < g->module_count; i++)
		to = g->modules[i] == old ? &g->modules[i] : NULL;
	if (!old && !freed)
		to = list_grow(&g->modules, &g->module_count, sizeof(*to), NULL);
	if (to) {
		*to = lm;
		atomic_fetch_add(&g->modules_version, 1);
	}
	pthread_rwlock_unlock(&g->modules_lock);
	if (to && old) {
		g->module_bytes -= old->charge;
		free_module(old);
	}
	return to ? 0 : -1;
}

static void read_symbols(struct guest *g, struct loaded_module *lm, const struct module_info *info)
{
	if (g->module_bytes > SYMBOLS_MAX)
		return;
	lm->m.symbols = module_symbols(&g->poll_reader, g->btf, info, NULL);
	lm->charge = lm->m.symbols ? symtab_bytes(lm->m.symbols) : BAD_TABLE;
	g->module_bytes += lm->charge;
}

/*
 * Returns whether the section is an init section, which is left out. The kernel frees init sections after initialisation, but
 * keeps them listed; their memory may have other data then.
 */
static bool is_init(const struct image_section *section)
{
	return strncmp(section->name, ".init", strlen(".init")) == 0;
}

/* Read the module's sections for the report: addresses in a module's debug file are relative to sections. */
static void read_sections(const struct guest *g, struct loaded_module *lm, const struct module_info *info)
{
	struct image_section all[MODULE_SECTIONS_MAX];
	unsigned n = module_sections(&g->poll_reader, g->btf, info, all, MODULE_SECTIONS_MAX);

	lm->m.sections = n ? malloc(n * sizeof(*all)) : NULL;
	for (unsigned i = 0; lm->m.sections && i < n; i++) {
		if (!is_init(&all[i]))
			lm->m.sections[lm->m.nsections++] = all[i];
	}
}

static struct loaded_module *read_module(struct guest *g, const struct module_info *info)
{
	struct loaded_module *lm = calloc(1, sizeof(*lm));

	if (!lm)
		return NULL;
	snprintf(lm->m.name, sizeof(lm->m.name), "%s", info->name);
	lm->m.base = info->text;
	lm->m.size = info->text_size;
	lm->address = info->addr;
	lm->unsafe[0] = (struct text_range){info->noinstr, info->noinstr + info->noinstr_size};
	lm->unsafe[1] = (struct text_range){info->kprobes, info->kprobes + info->kprobes_size};
	linux_find_module_unwind(g, info->addr, &lm->orc);
	lm->m.generation = ++g->next_generation;
	lm->coming = info->state == MODULE_COMING;
	lm->seen = true;
	memcpy(lm->m.build_id, info->build_id, info->build_id_len);
	lm->m.build_id_len = info->build_id_len;
	read_symbols(g, lm, info);
	read_sections(g, lm, info);
	return lm;
}

/*
 * Make an entry for the module, and put it in place of `old` if there is an old one. Returns false if the next poll must try
 * again.
 */
static bool add_module(struct guest *g, const struct module_info *info, struct loaded_module *old,
		       const struct guest_module_events *events)
{
	struct loaded_module *lm = read_module(g, info);

	if (!lm)
		return false;
	/* After guest_cancel_polls(), reads fail, so the module may be only partly read. */
	if (atomic_load(&g->polls_cancelled) || publish_module(g, lm, old)) {
		g->module_bytes -= lm->charge;
		free_module(lm);
		return false;
	}
	if (!lm->coming)
		events->loaded(events->ctx, &lm->m);
	return true;
}

/*
 * Report the module as gone, so that it is no longer sampled. Keep its entry, because observations in its code still need its
 * names.
 */
static void retire_module(struct loaded_module *lm, const struct guest_module_events *events)
{
	atomic_store(&lm->going, true);
	if (!lm->retired && !lm->coming)
		events->gone(events->ctx, &lm->m);
	lm->retired = true;
}

static void drop_module(struct guest *g, size_t index, const struct guest_module_events *events)
{
	struct loaded_module *lm = g->modules[index];

	retire_module(lm, events);
	pthread_rwlock_wrlock(&g->modules_lock);
	memmove(g->modules + index, g->modules + index + 1, (g->module_count - index - 1) * sizeof(*g->modules));
	g->module_count--;
	atomic_fetch_add(&g->modules_version, 1);
	pthread_rwlock_unlock(&g->modules_lock);
	g->module_bytes -= lm->charge;
	free_module(lm);
}

static struct loaded_module *find_module(struct guest *g, const struct module_info *info)
{
	for (size_t i = 0; i < g->module_count; i++) {
		if (is_same_module(g->modules[i], info))
			return g->modules[i];
	}
	return NULL;
}

/*
 * Returns true if `info` is a newly loaded instance of the module `lm`. After a module was going, it never is live or
 * initialising again, and after it was live, it never is initialising again.
 */
static bool is_reloaded(const struct loaded_module *lm, const struct module_info *info)
{
	bool over = lm->was_going || lm->retired || (info->state == MODULE_COMING && !lm->coming);

	return over && info->state != MODULE_GOING && is_same_module(lm, info);
}

static void drop_reloaded(struct guest *g, const struct module_info *list, size_t n, const struct guest_module_events *events)
{
	for (size_t i = g->module_count; i-- > 0;) {
		struct loaded_module *lm = g->modules[i];

		for (size_t j = 0; j < n; j++) {
			if (!is_reloaded(lm, &list[j]))
				continue;
			drop_module(g, i, events);
			break;
		}
	}
}

/*
 * Note which modules are going, before the list is read: then a module that the list has as live, and that was going, is a new
 * instance. Returns whether any is going.
 */
static bool note_going(struct guest *g)
{
	bool any = false;

	g->freed_seen = atomic_load(&g->freed_count);
	for (size_t i = 0; i < g->module_count; i++) {
		g->modules[i]->was_going = atomic_load(&g->modules[i]->going);
		any |= g->modules[i]->was_going;
	}
	return any;
}

/*
 * Drop the modules that are not in the list. Called before new modules are added: a new module may be where one of them was,
 * and the client must be told first that the old text is gone.
 */
static void drop_unlisted(struct guest *g, const struct module_info *list, size_t n, const struct guest_module_events *events)
{
	for (size_t i = 0; i < g->module_count; i++)
		g->modules[i]->seen = false;
	for (size_t i = 0; i < n; i++) {
		struct loaded_module *lm = find_module(g, &list[i]);

		if (lm)
			lm->seen = true;
		if (lm && list[i].state == MODULE_GOING)
			retire_module(lm, events);
	}
	for (size_t i = g->module_count; i-- > 0;) {
		if (!g->modules[i]->seen)
			drop_module(g, i, events);
	}
}

/*
 * Update g->modules from the list that was just read. If there are new modules, adds at least one of them, and no more after
 * the time `until` (CLOCK_MONOTONIC, ns). The list has the module that was loaded last first (kernel/module/main.c), so it is
 * read from its end: a module is added after the modules whose functions it calls. The entry of a module whose init function
 * has returned is replaced: it was not reported as loaded, and may lack what the kernel makes known late, such as sections.
 * Returns false if the next poll must go on.
 */
static bool update_modules(struct guest *g, const struct module_info *list, size_t n, const struct guest_module_events *events,
			   uint64_t until)
{
	bool all = true;
	unsigned added = 0;

	drop_reloaded(g, list, n, events);
	drop_unlisted(g, list, n, events);
	for (size_t i = n; i-- > 0 && !atomic_load(&g->polls_cancelled);) {
		struct loaded_module *lm = find_module(g, &list[i]);

		if (list[i].state == MODULE_GOING || (lm && !(lm->coming && list[i].state == MODULE_LIVE)))
			continue;
		if (added++ && monotonic_ns() > until)
			all = false;
		else
			all &= add_module(g, &list[i], lm, events);
	}
	return all && !atomic_load(&g->polls_cancelled);
}

bool guest_poll_modules(struct guest *g, const struct guest_module_events *events)
{
	struct module_info *list;
	uint64_t stamp, until = monotonic_ns() + POLL_NS;
	bool going = note_going(g);
	size_t n;

	if (!g->btf)
		return true;
	/* If the list is unreadable because it is changing, do nothing: the next poll comes soon. */
	if (modules_stamp(&g->poll_reader, g->symtab, g->btf, &stamp))
		return false;
	if (stamp == g->modules_seen && !g->modules_left && !going)
		return true;
	if (modules_read(&g->poll_reader, g->symtab, g->btf, &list, &n, NULL))
		return false;
	g->modules_left = !update_modules(g, list, n, events, until);
	g->modules_seen = stamp;
	free(list);
	return !g->modules_left;
}

uint64_t guest_modules_version(const struct guest *g)
{
	return atomic_load(&g->modules_version);
}

void guest_each_module(const struct guest *cg, void (*each)(void *ctx, const struct guest_module *m), void *ctx)
{
	struct guest *g = (struct guest *)cg; /* not const, because its lock is taken */

	pthread_rwlock_rdlock(&g->modules_lock);
	for (size_t i = 0; i < g->module_count; i++)
		each(ctx, &g->modules[i]->m);
	pthread_rwlock_unlock(&g->modules_lock);
}
