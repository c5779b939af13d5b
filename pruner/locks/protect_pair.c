// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks the conditions of a suspicion: DILP's, and the reasons why two accesses without a common lock may be correct. Cheap
 * checks that exclude most pairs come first. `a` and `b` are entries of the record: each struct prot_access stands for a number
 * of accesses with the same site, datum and locks.
 */
#include "pruner/locks/protect_pair.h"

#include "pruner/lists/datum_match.h"
#include "pruner/lists/lists.h"

static bool reads_only(const struct prot_access *a)
{
	return !(a->rw & INSN_WRITE);
}

/*
 * Returns whether one task, or one kind of interrupt on one CPU, made all accesses of both entries `a` and `b`. Then no two of
 * these accesses were concurrent.
 */
static bool same_context(const struct prot_access *a, const struct prot_access *b)
{
	return !a->several && !b->several && a->who == b->who && (a->who >= 0 || a->context == b->context);
}

/*
 * Returns whether tasks that could not be preempted made all accesses of both entries `a` and `b` on one CPU. Then no two of
 * these accesses were concurrent.
 */
static bool one_cpu(const struct prot_access *a, const struct prot_access *b)
{
	if (a->several_cpus || b->several_cpus || a->cpu != b->cpu || !a->context_known || !b->context_known)
		return false;
	return a->context == GUEST_TASK && b->context == GUEST_TASK && (a->preempt_off || a->irqs_off) &&
	       (b->preempt_off || b->irqs_off);
}

enum apart { NOT_APART, MAYBE_APART, CALLBACK_APART, SURELY_APART };

/*
 * Returns whether both accesses hold a lock that orders them. MAYBE_APART: the record is not certain about the lock.
 * CALLBACK_APART: no lock orders them, but one access is in the callback of an object, and the kernel does not run this
 * callback at the same time as the other access.
 */
static enum apart locks_apart(const struct protection *p, const struct prot_access *a, const struct prot_access *b)
{
	enum apart apart = a->held_overflow || b->held_overflow ? MAYBE_APART : NOT_APART;

	for (unsigned i = 0; i < a->held_count; i++) {
		const struct prot_held *one = &a->held[i], *other = protect_held(b, one->lock);

		if (!other || (one->shared && other->shared))
			continue;
		if (p->locks[one->lock].kind == LOCK_CALLBACK) {
			apart = CALLBACK_APART;
			continue;
		}
		if (!one->maybe && !other->maybe)
			return SURELY_APART;
		apart = apart == NOT_APART ? MAYBE_APART : apart;
	}
	return apart;
}

static bool is_lock(const struct protection *p, const struct prot_held *held)
{
	return p->locks[held->lock].kind != LOCK_CALLBACK;
}

/* Returns whether the access surely holds a lock. With `perhaps`, locks about which the record is not certain count, too. */
static bool locked_by_any(const struct protection *p, const struct prot_access *a, bool perhaps)
{
	for (unsigned i = 0; i < a->held_count; i++) {
		if ((perhaps || !a->held[i].maybe) && is_lock(p, &a->held[i]))
			return true;
	}
	return false;
}

/*
 * Returns whether the access surely holds a lock whose taker spins. An interrupt can take only such a lock, because it cannot
 * sleep.
 */
static bool locked_by_spinning(const struct protection *p, const struct prot_access *a)
{
	for (unsigned i = 0; i < a->held_count; i++) {
		switch (a->held[i].maybe ? LOCK_KINDS : p->locks[a->held[i].lock].kind) {
		case LOCK_SPIN:
		case LOCK_RWLOCK:
		case LOCK_SEQ:
		case LOCK_BIT:
			return true;
		}
	}
	return false;
}

/*
 * Returns whether an interrupt that makes one of the accesses can interrupt the other access. The record need not show that it
 * did. If neither side holds a spinning lock, the result is false: an interrupt cannot take a mutex, so a programmer who
 * protects the datum by a mutex expects no interrupt to access the datum.
 */
static bool could_interrupt(const struct protection *p, const struct prot_access *a, const struct prot_access *b)
{
	return (protect_pair_interrupts(a, b) || protect_pair_interrupts(b, a)) &&
	       (locked_by_spinning(p, a) || locked_by_spinning(p, b));
}

/*
 * Returns whether the reader is in an RCU read-side critical section and the writer holds a lock. Such a reader needs no lock.
 * If the kernel keeps no count of these sections, every reader of 8 bytes, the size of a pointer, counts as in a section: RCU
 * readers load pointers.
 */
static bool reader_of(const struct protection *p, const struct prot_access *reader, const struct prot_access *writer)
{
	bool in_rcu = reader->in_rcu || (reader->rcu_unknown && reader->size == sizeof(uint64_t));

	return reads_only(reader) && in_rcu && locked_by_any(p, writer, false);
}

static bool listed_datum(const struct protection *p, const struct prune_rules *rules, enum list_kind kind,
			 const struct prot_access *a, const struct datum_name *datum, bool two_writers)
{
	struct list_query query = {.kind = kind,
				   .datum = datum,
				   .function = protect_function(p, a->function),
				   .changes = !reads_only(a),
				   .two_writers = two_writers};

	return rules_datum(rules, &query) != NULL;
}

static bool marked(const struct protection *p, const struct prune_rules *rules, const struct prot_access *a)
{
	struct datum_name datum;

	if (a->locked || !rules)
		return a->locked;
	if (rules_access(rules, LIST_MARKED, protect_function(p, a->function), a->rw))
		return true;
	datum_of_memory(&a->memory, &datum);
	return reads_only(a) && listed_datum(p, rules, LIST_ATOMIC, a, &datum, false);
}

/* Returns whether the lists say that the datum needs no lock. */
static bool by_design(const struct protection *p, const struct prune_rules *rules, const struct prot_access *a,
		      const struct prot_access *b)
{
	bool two_writers = !reads_only(a) && !reads_only(b);
	struct datum_name datum;

	if (!rules)
		return false;
	datum_of_memory(&a->memory, &datum);
	return listed_datum(p, rules, LIST_SPECIAL, a, &datum, two_writers) ||
	       listed_datum(p, rules, LIST_SPECIAL, b, &datum, two_writers);
}

/*
 * Returns whether tasks accessed the datum one after another: each task's accesses end before the accesses of the next task
 * begin. A program that stops one thread before it starts the next thread gives such a record.
 */
static bool one_after_another(const struct prot_access *a, const struct prot_access *b)
{
	for (unsigned i = 0; i < a->span_count; i++) {
		for (unsigned k = 0; k < b->span_count; k++) {
			const struct prot_span *s = &a->spans[i], *t = &b->spans[k];

			if (s->who != t->who && s->last_ns > t->first_ns && t->last_ns > s->first_ns)
				return false;
		}
	}
	return a->span_count && b->span_count;
}

/*
 * Returns whether the datum may have been handed over: all accesses of one side came before all of the other side, or the
 * tasks accessed it one after another.
 */
static bool handed_over(const struct prot_access *a, const struct prot_access *b)
{
	return a->last_ns <= b->first_ns || b->last_ns <= a->first_ns || one_after_another(a, b);
}

bool protect_pair_concurrent(const struct protection *p, const struct prot_access *a, const struct prot_access *b)
{
	return a->operation != PROTECTION_NONE && b->operation != PROTECTION_NONE &&
	       protection_concurrent(p, a->operation, b->operation);
}

bool protect_pair_interrupts(const struct prot_access *upper, const struct prot_access *lower)
{
	if (!upper->context_known || !lower->context_known || upper->context <= lower->context)
		return false;
	switch (upper->context) {
	case GUEST_SOFTIRQ:
		return !lower->irqs_off && !lower->preempt_off;
	case GUEST_HARDIRQ:
		return !lower->irqs_off;
	default:
		return upper->context == GUEST_NMI;
	}
}

int protect_pair(const struct protection *p, const struct prune_rules *rules, const struct prot_access *a,
		 const struct prot_access *b)
{
	enum apart apart;

	if (a == b && !a->several)
		return PROTECT_FINE;
	if (!protect_overlap(a, b) || (reads_only(a) && reads_only(b)) ||
	    !(locked_by_any(p, a, true) || locked_by_any(p, b, true)))
		return PROTECT_FINE;
	apart = locks_apart(p, a, b);
	if (apart == SURELY_APART)
		return PROTECT_FINE;
	if (apart == MAYBE_APART || (!locked_by_any(p, a, false) && !locked_by_any(p, b, false)))
		return PROTECT_MAYBE;
	if (same_context(a, b) || one_cpu(a, b))
		return PROTECT_APART;
	if (a->memory.kind == GUEST_MEMORY_PER_CPU)
		return PROTECT_PER_CPU;
	if (!a->count_shared || !b->count_shared)
		return PROTECT_UNPUBLISHED;
	if (reader_of(p, a, b) || reader_of(p, b, a))
		return PROTECT_RCU;
	if (!protect_pair_concurrent(p, a, b) && !could_interrupt(p, a, b))
		return PROTECT_APART;
	if (handed_over(a, b))
		return PROTECT_HANDED;
	if ((marked(p, rules, a) && marked(p, rules, b)) || by_design(p, rules, a, b))
		return PROTECT_MARKED;
	return apart == CALLBACK_APART ? PROTECT_ORDERED : PROTECT_SUSPECTED;
}
