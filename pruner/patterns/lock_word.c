// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds out whether a side of a race accesses the word of a lock: by the code of the side, by the functions that its code
 * calls, and by the lists of lock functions.
 */
#include "pruner/patterns/lock_word.h"

#include <stdio.h>
#include <string.h>

#include "hv/base/x86.h"

/* Size of a qspinlock, and of the count of a qrwlock (include/asm-generic/qspinlock_types.h, qrwlock_types.h). */
#define SPIN_WORD_SIZE 4

static bool is_by_cpu(const struct view_side *s)
{
	return s->side->kind == RACE_SIDE_CPU && s->side->size != 0;
}

bool lock_word_inside(const struct view *v, const struct view_side *s)
{
	unsigned which = s == &v->side[1];
	const struct source_line *lines;
	size_t n;

	if (!is_by_cpu(s))
		return false;
	if (s->side->symbol.name[0] && rules_function(v->rules, LIST_LOCK_INSIDE, s->side->symbol.name))
		return true;
	lines = race_names_lines(v->race->names, which, 0, &n);
	for (size_t i = 0; i < n; i++) {
		if (rules_function(v->rules, LIST_LOCK_INSIDE, lines[i].function))
			return true;
	}
	return false;
}

/*
 * Returns whether the side's access is inside the `size` bytes of the lock to which `from` points, and sets the members gva and
 * size of *out. The distance between two pointers is known only if they have the same root.
 */
static bool in_word(const struct view_side *s, const struct flow_pointer *from, uint32_t size, struct lock_word *out)
{
	const struct insn *insn = &s->code.insns[s->at].op.insn;
	struct flow_pointer access = flow_address(s->flow, s->at);
	/* The distance is unsigned. So for an access below the lock it is a huge number, which the check below refuses. */
	uint64_t distance = (uint64_t)access.disp - (uint64_t)from->disp;

	/* A per-CPU access is at the GS base plus the operand's address, so the operand does not give its address. */
	if (insn->nmem != 1 || insn->mem[0].seg)
		return false;
	if (from->root == FLOW_POINTER_UNKNOWN || access.root != from->root || s->side->size > size ||
	    distance > size - s->side->size)
		return false;
	out->gva = s->side->gva - distance;
	out->size = size;
	return true;
}

static uint32_t size_of(const struct list_entry *e)
{
	return e->bytes ? (uint32_t)e->bytes : SPIN_WORD_SIZE;
}

/* Returns whether the side is a lock function that accesses the lock at its own first argument. Sets *out. */
static bool by_own_argument(const struct view *v, const struct view_side *s, struct lock_word *out)
{
	const struct list_entry *e = rules_function(v->rules, LIST_LOCK_ARGUMENT, s->side->symbol.name);
	struct flow_pointer lock;

	if (!e || !s->followed || !s->code.whole)
		return false;
	lock = flow_register(s->flow, 0, X86_RDI);
	if (!in_word(s, &lock, size_of(e), out))
		return false;
	snprintf(out->why, sizeof(out->why), "%s() changes it", view_function(s));
	return true;
}

/*
 * Returns whether the access is in a function of LIST_LOCK_INSIDE, whose code need not be known. Sets *out. The size of the
 * access gives the size of the word: such a function accesses only spinlocks and pointers between the waiters of a lock.
 * Accesses to a stack or a task_struct are excluded, because such a function may access other data there.
 */
static bool by_function(const struct view *v, const struct view_side *s, struct lock_word *out)
{
	uint32_t size = s->side->size > SPIN_WORD_SIZE ? (uint32_t)sizeof(uint64_t) : SPIN_WORD_SIZE;
	const struct guest_memory *memory = &v->race->first.memory;
	uint64_t start = s->side->gva & ~(uint64_t)(size - 1);

	if (!lock_word_inside(v, s) || memory->kind == GUEST_MEMORY_STACK || strcmp(memory->type, "task_struct") == 0 ||
	    s->side->gva + s->side->size > start + size)
		return false;
	out->gva = start;
	out->size = size;
	snprintf(out->why, sizeof(out->why), "a lock function accesses it in %s()", view_function(s));
	return true;
}

/*
 * Returns whether the side's function passes the address that it accesses to a lock function, before the access or after it.
 * Sets *out.
 */
static bool by_call(const struct view *v, const struct view_side *s, struct lock_word *out)
{
	for (unsigned i = 0; s->followed && i < s->code.count; i++) {
		const char *callee = s->code.insns[i].callee;
		const struct list_entry *e = callee ? rules_function(v->rules, LIST_LOCK_ARGUMENT, callee) : NULL;
		struct flow_pointer lock;

		if (!e)
			continue;
		lock = flow_register(s->flow, i, X86_RDI);
		if (!in_word(s, &lock, size_of(e), out))
			continue;
		snprintf(out->why, sizeof(out->why), "%s passes its address to %s()", view_function(s), callee);
		return true;
	}
	return false;
}

bool lock_word_of(const struct view *v, unsigned which, struct lock_word *out)
{
	const struct view_side *s = &v->side[which];

	return is_by_cpu(s) && (by_own_argument(v, s, out) || by_function(v, s, out) || by_call(v, s, out));
}

/*
 * Returns whether the access releases a spinlock by a plain store of a zero byte, as queued_spin_unlock() and
 * queued_write_unlock() do.
 */
static bool releases(const struct view_side *s, const struct lock_word *word)
{
	return !s->reads && s->side->size == 1 && (s->side->gva - word->gva) % X86_PAGE_SIZE == 0 && s->followed &&
	       s->write.constant && s->write.value == 0;
}

bool lock_word_allows(const struct view *v, const struct view_side *s, const struct lock_word *word)
{
	/*
	 * The two sides may access the word's page at two GVAs, through two mappings. So `from`, the distance from the start of
	 * the word to the access, is computed modulo the page size.
	 */
	uint64_t from = (s->side->gva - word->gva) % X86_PAGE_SIZE;

	if (!is_by_cpu(s) || s->side->size > word->size || from > word->size - s->side->size)
		return false;
	if (s->side->locked || lock_word_inside(v, s))
		return true;
	return (s->reads && !view_changes(s)) || releases(s, word);
}
