// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the kernel in the RAM of the base, and names functions and memory (kernel.h). */
#include "hv/explore/kernel.h"

#include <fnmatch.h>
#include <string.h>

/*
 * Maximum number of calls of guest_poll(). The memory does not change, so more calls would not find a kernel that these calls
 * have not found.
 */
#define POLLS 50

static void on_module(void *ctx, const struct guest_module *m)
{
	(void)ctx;
	(void)m;
}

static void find_modules(struct guest *g)
{
	const struct guest_module_events events = {.loaded = on_module, .gone = on_module};
	uint64_t version;

	do {
		version = guest_modules_version(g);
		guest_poll_modules(g, &events);
	} while (guest_modules_version(g) != version);
}

int kernel_open(struct kernel *k, const struct base *base, const struct x86_regs *regs, struct err *err)
{
	struct err why = {0};
	int found = 0;

	*k = (struct kernel){.regs = *regs};
	image_init(&k->image, &base->ram, &k->regs, 1);
	k->guest = guest_new(&k->image.target, NULL, NULL, err);
	if (!k->guest)
		return -1;
	for (unsigned i = 0; i < POLLS && !found; i++)
		found = guest_poll(k->guest, &why);
	if (found <= 0)
		return err_set(err, EXIT_INPUT, "the guest's kernel cannot be read: %s",
			       why.text[0] ? why.text : "no kernel was found in its memory");
	find_modules(k->guest);
	k->heap = guest_heap_open(k->guest);
	return 0;
}

void kernel_find_spins(const struct kernel *k, struct base *base)
{
	/*
	 * A CPU spins in these functions until another CPU releases a spinlock (kernel/locking/qspinlock.c, qrwlock.c), answers
	 * an interrupt (kernel/smp.c), or stops, too (kernel/stop_machine.c).
	 */
	static const char *const names[] = {
		"native_queued_spin_lock_slowpath",
		"__pv_queued_spin_lock_slowpath",
		"queued_read_lock_slowpath",
		"queued_write_lock_slowpath",
		"smp_call_function_single",
		"smp_call_function_many_cond",
		"multi_cpu_stop",
	};
	struct guest_symbol symbol = {0};

	_Static_assert(sizeof(names) / sizeof(*names) == BASE_SPINS_MAX, "base.spin must have room for all");
	for (unsigned i = 0; i < BASE_SPINS_MAX; i++)
		if (guest_symbol_at(k->guest, guest_symbol_address(k->guest, "", names[i]), &symbol) == 0)
			base->spin[i] = (struct base_spin){symbol.addr, symbol.size};
}

/* A search for a function in the modules. */
struct search {
	const char *name;
	uint64_t found; /* 0: not found yet */
};

static void look_in_module(void *ctx, const struct guest_module *m)
{
	struct search *s = ctx;

	if (!s->found && m->symbols)
		s->found = symtab_addr(m->symbols, s->name);
}

int kernel_find_also(const struct kernel *k, const struct explore_config *config, struct base *base, struct err *err)
{
	for (unsigned side = 0; side < 2; side++)
		for (unsigned i = 0; i < EXPLORE_ALSO_MAX && config->also[side][i]; i++) {
			struct search s = {.name = config->also[side][i]};

			s.found = guest_symbol_address(k->guest, "", s.name);
			guest_each_module(k->guest, look_in_module, &s);
			if (!s.found)
				return err_set(
					err, EXIT_INPUT,
					"--%c-also %s: neither the guest's kernel nor a module that is loaded at the mark has "
					"this function",
					side ? 'b' : 'a', s.name);
			base->also[side][i] = s.found;
		}
	return 0;
}

void kernel_close(struct kernel *k)
{
	guest_heap_close(k->heap);
	k->heap = NULL;
	guest_free(k->guest);
	k->guest = NULL;
}

/*
 * Returns whether a lock function's name says that the function releases the lock: spin_unlock, mutex_unlock, up_read and the
 * like.
 */
static bool releases_lock(const char *name)
{
	return strstr(name, "unlock") || strncmp(name + strspn(name, "_"), "up_", 3) == 0;
}

/* Returns the kind of a lock function of this name: down_read(), _raw_read_lock() and the like are for readers. */
static enum pairs_code lock_code(const char *name)
{
	if (releases_lock(name))
		return PAIRS_UNLOCK;
	return strstr(name, "down_read") || strstr(name, "read_lock") || strstr(name, "read_trylock") ? PAIRS_LOCK_SHARED
												      : PAIRS_LOCK;
}

static bool is_named(const char *name, const char *const *globs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(globs[i], name, 0) == 0)
			return true;
	return false;
}

unsigned kernel_code_facts(const struct kernel *k, uint64_t pc)
{
	/*
	 * Names of Linux 5.10 to 7.0: the scheduler, the allocators, and the lists and counts of pages. Neither these functions
	 * nor those that they call access the data of their callers.
	 */
	static const char *const service[] = {
		"__schedule",
		"try_to_wake_up",
		"wake_up_new_task",
		"sched_fork",
		"sched_cgroup_fork",
		"kmem_cache_*",
		"kfree",
		"kfree_sensitive",
		"__kmalloc*",
		"kmalloc_*",
		"___slab_alloc",
		"__slab_alloc*",
		"__slab_free",
		"__alloc_pages*",
		"alloc_pages*",
		"__free_pages*",
		"free_unref_*",
		"__folio_put*",
		"__alloc_percpu*",
		"free_percpu",
		"__folio_alloc*",
		"__kvmalloc*",
		"kvfree*",
		"__alloc_frozen_*",
		"lru_cache_add*",
		"folio_add_lru*",
		"__pagevec_lru_*",
		"pagevec_lru_*",
		"folio_batch_move_lru",
		"lru_add_drain*",
		"mem_cgroup_update_lru_size",
		"__mod_*lruvec*",
		"__mod_memcg*",
		"__count_memcg_events",
	};
	static const char *const library[] = {
		"memcpy*",	  "__memcpy*",	  "memmove*",	  "__memmove*", "memset*", "__memset*", "radix_tree_*",
		"__radix_tree_*", "delete_node",  "idr_*",	  "xas_*",	"xa_*",	   "__xa_*",	"rb_*",
		"__rb_*",	  "__list_add_*", "__list_del_*", "llist_*",	"plist_*", "kref_*",	"refcount_*",
		"find_next_*",	  "_find_*",	  "bitmap_*",	  "__bitmap_*",
	};
	struct guest_symbol symbol = {0};

	if (guest_symbol_at(k->guest, pc, &symbol) < 0 || symbol.module[0])
		return 0;
	return (symbol.addr == pc && is_named(symbol.name, service, sizeof(service) / sizeof(*service)) ? KERNEL_SERVICE : 0) |
	       (is_named(symbol.name, library, sizeof(library) / sizeof(*library)) ? KERNEL_LIBRARY : 0);
}

enum pairs_code kernel_code(void *kernel, uint64_t pc)
{
	const struct kernel *k = kernel;
	struct guest_symbol symbol = {0};
	struct symbol function;

	if (guest_symbol_at(k->guest, pc, &symbol) < 0)
		return PAIRS_CODE;
	if (!symbol.module[0] && strcmp(symbol.name, "lock_sock_nested") == 0)
		return PAIRS_OWNS;
	if (!symbol.module[0] && symtab_at(guest_symtab(k->guest), pc, &function) == 0 &&
	    !guest_may_sample(k->guest, &function))
		return lock_code(symbol.name);
	if (symbol.module[0])
		return PAIRS_MODULE;
	return guest_serves_all(k->guest, symbol.name) ? PAIRS_SERVES_ALL : PAIRS_CODE;
}

bool kernel_is_allocated(void *kernel, uint64_t gva)
{
	const struct kernel *k = kernel;

	return k->heap && guest_heap_has_free(k->heap, gva);
}

static void name_side(const struct kernel *k, struct explore_side *side)
{
	guest_symbol_at(k->guest, side->access.pc, &side->symbol);
	if (side->access.caller)
		guest_symbol_at(k->guest, side->access.caller, &side->caller);
}

static void find_memory(const struct kernel *k, uint64_t gva, uint32_t size, struct guest_memory *out)
{
	struct guest_page_state page = {0};
	uint64_t gpa;

	if (guest_translate(k->guest, gva, &gpa) < 0)
		return;
	guest_page_state(k->guest, gpa, &page);
	guest_memory_at(k->guest, &k->regs, &page, gva, size, out);
}

void kernel_drop_object(const struct kernel *k, uint64_t gva)
{
	if (k->heap)
		guest_heap_drop(k->heap, gva);
}

bool kernel_is_lasting(void *kernel, uint64_t gva)
{
	const struct kernel *k = kernel;
	struct guest_memory memory = {0};

	if (k->heap && guest_heap_uses(k->heap, gva))
		return true;
	find_memory(k, gva, 1, &memory);
	return memory.kind == GUEST_MEMORY_KERNEL || memory.kind == GUEST_MEMORY_MODULE;
}

void kernel_name(const struct kernel *k, struct explore_candidate *c)
{
	for (unsigned side = 0; side < 2; side++)
		name_side(k, &c->side[side]);
	find_memory(k, c->side[0].access.gva, c->side[0].access.size, &c->memory);
}
