// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for races on words of locks and words of the scheduler: spinlocks and their like, flags that ask a CPU to
 * reschedule, and preemption counts. Lock functions race on such a word by design, and other functions read it:
 * cond_resched_lock() reads whether there are waiters. Debug files show such a read as an inlined atomic_read(), but machine
 * code has only a plain load.
 *
 * The rule needs proof that the memory is such a word: a list names the word, a side is inside a lock function, or a side
 * passes the address to a lock function. Both accesses must be inside the word, because a field beside the lock is no part of
 * the lock. And both must be accesses that code may make to such a word. A plain store to a lock in use, as by
 * spin_lock_init(), stays a harmful candidate.
 */
#include "pruner/patterns/lock_word.h"
#include "pruner/rules/rules.h"

static void explain(const struct view *v, const char *why, struct verdict *out)
{
	const char *const does[] = {"reads", "changes"};

	out->class = VERDICT_SYNCHRONISATION;
	out->rule = RULE_LOCK_WORD;
	verdict_evidence(out, "%s is the word of a lock: %s; %s %s it, and %s %s it", v->datum, why, view_function(&v->side[0]),
			 does[view_changes(&v->side[0])], view_function(&v->side[1]), does[view_changes(&v->side[1])]);
}

/* Returns whether a list names the datum: a part of a lock, or a word of the scheduler that any code may change. */
static bool by_list(const struct view *v, struct verdict *out)
{
	const struct datum_name *name = NULL;
	const struct list_entry *e = view_listed(v, LIST_LOCK_WORD, &name);
	struct lock_word word;

	if (!e)
		return false;
	for (unsigned i = 0; i < 2 && !e->two_writers; i++) {
		const struct view_side *s = &v->side[i];

		word = (struct lock_word){.gva = s->side->gva, .size = s->side->size};
		if (!lock_word_allows(v, s, &word))
			return false;
	}
	out->class = VERDICT_SYNCHRONISATION;
	out->rule = RULE_LOCK_WORD;
	verdict_evidence(out, "%s: %s", name->path, e->reason);
	if (e->source)
		verdict_evidence(out, " (%s)", e->source);
	return true;
}

bool rule_lock_word(const struct view *v, struct verdict *out)
{
	struct lock_word word;

	if (by_list(v, out))
		return true;
	for (unsigned i = 0; i < 2; i++) {
		if (lock_word_of(v, i, &word) && lock_word_allows(v, &v->side[i], &word) &&
		    lock_word_allows(v, &v->side[!i], &word)) {
			explain(v, word.why, out);
			return true;
		}
	}
	return false;
}
