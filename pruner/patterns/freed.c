// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds calls after an access that may free the object that was accessed. */
#include "pruner/patterns/freed.h"

#include <string.h>

#include "pruner/code/flow/reachability.h"

/*
 * The maximum size of an object of kmalloc(), in bytes (KMALLOC_MAX_SIZE in include/linux/slab.h, with 4 KiB pages). It stands
 * for the size of an object that is in no slab cache: the guest's tables do not have that size.
 */
#define OBJECT_MAX (4u << 20)

/*
 * Returns whether the function frees exactly what its argument points into. Other functions of the list `free` take a page, or
 * free what the object leads to as well, as kfree_skb() frees a packet's data.
 */
static bool frees_its_argument(const char *callee)
{
	static const char *const names[] = {"kfree",	       "kfree_sensitive", "kvfree",	    "vfree",
					    "mempool_free",    "call_rcu",	  "call_rcu_hurry", "kfree_call_rcu",
					    "kvfree_call_rcu", "kmem_cache_free"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(callee, names[i]) == 0)
			return true;
	}
	return false;
}

/* Returns what the call frees: its first argument, or kmem_cache_free()'s second. */
static struct flow_pointer argument(const struct view_side *s, unsigned call)
{
	bool after_cache = strcmp(s->code.insns[call].callee, "kmem_cache_free") == 0;

	return flow_register(s->flow, call, after_cache ? X86_RSI : X86_RDI);
}

/*
 * Set *out to the address that the pointer had at the access. Returns false if no register gives it, or if it was NULL. A
 * register that the access writes is not used: the registers of a side that a watchpoint caught are those after the access.
 */
static bool address_of(const struct view_side *s, const struct flow_pointer *p, uint64_t *out)
{
	const struct insn_op *op = &s->code.insns[s->at].op;
	struct flow_pointer held;

	if (p->root == FLOW_POINTER_FIXED) {
		*out = (uint64_t)p->disp;
		return x86_kernel_address(*out);
	}
	for (unsigned reg = 0; reg < X86_GPRS && p->root != FLOW_POINTER_UNKNOWN; reg++) {
		held = flow_register(s->flow, s->at, reg);
		if (held.root != p->root || op->writes >> reg & 1)
			continue;
		*out = s->side->regs.gpr[reg] + (uint64_t)(p->disp - held.disp);
		/*
		 * The registers are those of the first instance. A pointer that was NULL in this instance does not say which
		 * object the call frees in other instances.
		 */
		return x86_kernel_address(s->side->regs.gpr[reg] - (uint64_t)held.disp);
	}
	return false;
}

static bool is_inside(uint64_t address, uint64_t object, uint64_t size)
{
	return address - object < size;
}

/*
 * Returns whether the freed object may be the datum's object, or an object that the datum points to. `freed` is an address in
 * the freed object, not always its start.
 */
static bool may_be_object(const struct view *v, const struct view_side *s, uint64_t freed)
{
	const struct guest_memory *m = &v->race->first.memory;
	uint64_t values[2];

	if (m->object && m->object_size ? is_inside(freed, m->object, m->object_size) : s->side->gva - freed < OBJECT_MAX)
		return true;
	for (unsigned i = 0; i < v->race->kept; i++) {
		if (!view_values(&v->race->instances[i], &values[0], &values[1]))
			return true;
		/*
		 * The datum may point to a member of the freed object, or `freed` may point to a member of the object that the
		 * datum points to.
		 */
		for (unsigned j = 0; j < 2; j++) {
			if (values[j] &&
			    (is_inside(freed, values[j], X86_PAGE_SIZE) || is_inside(values[j], freed, X86_PAGE_SIZE)))
				return true;
		}
	}
	return false;
}

static bool may_free(const struct view *v, const struct view_side *s, unsigned call)
{
	struct flow_pointer freed, datum = flow_address(s->flow, s->at), loaded = flow_loaded(s->flow, s->at);
	int loaded_at;
	uint64_t address;

	if (!frees_its_argument(s->code.insns[call].callee))
		return true;
	freed = argument(s, call);
	if (freed.root != FLOW_POINTER_UNKNOWN && freed.root != FLOW_POINTER_FIXED &&
	    (freed.root == datum.root || freed.root == loaded.root))
		return true;
	/* The freed pointer may also come from another instruction that loads the datum. */
	loaded_at = flow_definition(s->flow, &freed);
	if (loaded_at >= 0 && flow_same_place(s->flow, s->at, (unsigned)loaded_at))
		return true;
	return !address_of(s, &freed, &address) || may_be_object(v, s, address);
}

const char *freed_after(const struct view *v, unsigned which, enum freed_when when)
{
	const struct view_side *s = &v->side[which];
	bool waits[RACE_CODE_MAX] = {false}, reached[RACE_CODE_MAX];

	if (s->side->kind != RACE_SIDE_CPU || !s->followed)
		return NULL;
	for (unsigned i = 0; i < s->code.count && when == FREED_EARLY; i++) {
		const char *callee = s->code.insns[i].callee;

		waits[i] = callee && rules_function(v->rules, LIST_GRACE_WAIT, callee);
	}
	reachable(&s->code, (int)s->at, NULL, waits, reached);
	for (unsigned i = 0; i < s->code.count; i++) {
		const char *callee = s->code.insns[i].callee;

		if (!reached[i] || !callee || !rules_function(v->rules, LIST_FREE, callee) ||
		    (when == FREED_EARLY && rules_function(v->rules, LIST_GRACE_FREE, callee)))
			continue;
		if ((when != FREED_OWN || frees_its_argument(callee)) && may_free(v, s, i))
			return callee;
	}
	return NULL;
}
