// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers questions about a section. Accesses that were seen in other sections, or to other objects, count too, if the same
 * function made them. Otherwise code that was sampled seldom would be suspected only because the access in question was not
 * seen in this section.
 */
#include <string.h>

#include "pruner/locks/atomicity_facts.h"

static bool is_in(const struct prot_access *a, uint32_t function)
{
	return a->function == function && function != PROTECTION_NONE;
}

/*
 * Returns whether two accesses of one function are to the same member, perhaps of two objects. Objects of a merged cache may be
 * of several types; in one function, the same offset in them is taken for the same member.
 */
static bool same_member(const struct prot_access *a, const struct prot_access *b)
{
	const struct guest_memory *m = &a->memory, *n = &b->memory;

	if (!protect_overlap(a, b))
		return false;
	return protect_same_member(a, b) || (m->kind == GUEST_MEMORY_SLAB && n->kind == GUEST_MEMORY_SLAB && m->object &&
					     n->object && m->offset / 8 == n->offset / 8 && strcmp(m->cache, n->cache) == 0);
}

/* Returns whether one of the lock calls at `call` and `other` is between these two instructions. */
static bool takes_between(uint64_t from, uint64_t to, uint64_t call, uint64_t other)
{
	return (from < call && call < to) || (from < other && other < to);
}

bool atomicity_looks_for_another(const struct atomicity_case *c, const struct prot_use *use)
{
	const struct lock_check *first = &c->first->check, *check = &use->check;
	const struct prot_access *one = &c->group->p->accesses[c->first->access], *a = &c->group->p->accesses[use->access];
	const uint64_t act = c->group->p->accesses[c->second->access].pc;

	if (!first->known || !check->known || one->size != a->size || one->gva % 8 != a->gva % 8)
		return false;
	return first->value && check->value && check->value != first->value && a->pc < act && act < check->until;
}

bool atomicity_checks_on_the_way(const struct atomicity_case *c)
{
	const struct protection *p = c->group->p;
	const struct prot_access *act = &p->accesses[c->second->access];
	uint64_t second = c->sections->second;
	/*
	 * The calls that take the locks are in different functions (sections->caller), but one function makes both accesses.
	 * The code of this function does not show where the second section begins. So only an access that was recorded in the
	 * second section counts.
	 */
	bool unclear = c->sections->caller && p->accesses[c->first->access].function == act->function;

	for (uint32_t i = 0; i < p->use_count; i++) {
		const struct prot_use *use = &p->uses[i];
		const struct prot_access *a = &p->accesses[use->access];

		if (use->decides && !atomicity_looks_for_another(c, use) && a->pc < act->pc && is_in(a, act->function) &&
		    same_member(a, act) && use->taken_at != c->sections->first && (!unclear || use->taken_at == second) &&
		    !takes_between(a->pc, act->pc, second, use->taken_at) && protect_same_lock(p, use->lock, c->second->lock))
			return true;
	}
	return false;
}

bool atomicity_writes_on_the_way(const struct atomicity_case *c)
{
	const struct protection *p = c->group->p;
	const struct prot_access *first = &p->accesses[c->first->access];
	uint64_t second = c->sections->second;

	for (uint32_t i = 0; i < p->use_count; i++) {
		const struct prot_use *use = &p->uses[i];
		const struct prot_access *a = &p->accesses[use->access];

		if (a->rw & INSN_WRITE && a->count_shared && first->pc < a->pc && is_in(a, first->function) &&
		    same_member(a, first) && use->taken_at != second &&
		    !takes_between(first->pc, a->pc, second, use->taken_at) && protect_same_lock(p, use->lock, c->first->lock))
			return true;
	}
	return false;
}

bool atomicity_sets_both(const struct protection *p, uint64_t taken_at, const struct prot_access *flag,
			 const struct prot_access *value)
{
	for (uint32_t i = 0; i < p->use_count; i++) {
		const struct prot_access *a = &p->accesses[p->uses[i].access];

		if (p->uses[i].taken_at == taken_at && a->rw & INSN_WRITE && is_in(a, flag->function) && same_member(a, value))
			return true;
	}
	return false;
}

/*
 * Returns whether the instruction of `one` accesses another object, too, in this section, under the same lock. If the lock is a
 * member of the object, the result is false: another object has another lock.
 */
static bool accesses_others(const struct protection *p, const struct prot_use *one)
{
	const struct prot_access *datum = &p->accesses[one->access];

	if (!datum->memory.object || protect_inside(p, datum, one->lock))
		return false;
	for (uint32_t i = 0; i < p->use_count; i++) {
		const struct prot_use *use = &p->uses[i];
		const struct prot_access *a = &p->accesses[use->access];

		if (use->lock == one->lock && use->taken_at == one->taken_at && a->pc == datum->pc && a->memory.object &&
		    a->memory.object != datum->memory.object)
			return true;
	}
	return false;
}

bool atomicity_several(const struct atomicity_case *c)
{
	return accesses_others(c->group->p, c->first) || accesses_others(c->group->p, c->second);
}

bool atomicity_several_objects(const struct atomicity_case *c)
{
	return 2 * c->sections->in_row > c->sections->count && atomicity_several(c);
}

bool atomicity_reads_first(const struct atomicity_group *g, uint64_t taken_at, const struct prot_access *write)
{
	for (uint32_t i = 0; i < g->count; i++) {
		const struct prot_use *use = &g->p->uses[g->uses[i]];
		const struct prot_access *a = &g->p->accesses[use->access];

		if (a->rw & INSN_READ && a->pc <= write->pc && use->taken_at == taken_at && protect_same_datum(a, write) &&
		    protect_overlap(a, write))
			return true;
	}
	return false;
}

uint64_t atomicity_checked_bits(const struct prot_use *first)
{
	return first->bits ? first->bits : UINT64_MAX;
}
