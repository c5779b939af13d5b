// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes the rank of a suspicion. The greater the share of accesses that hold the lock, the more likely the lock is missing
 * in the other accesses by mistake. A lock in the datum's own object most likely protects that datum.
 */
#include "pruner/lists/datum_match.h"
#include "pruner/lists/lists.h"
#include "pruner/locks/protect_text.h"

/*
 * The points that add up to a rank. RANK_SHARE is multiplied by the share of accesses that hold the lock; each other constant
 * counts in full if its condition in protect_rank() holds.
 */
#define RANK_SHARE 50
#define RANK_CONCURRENT 25
#define RANK_INSIDE 15
#define RANK_TWO_WRITERS 5
#define RANK_INTERRUPT 5
#define RANK_REFCOUNT 20
/* A wrong statistic does little harm. */
#define RANK_STATISTIC (-30)
/* Below this number of accesses, the share of accesses that hold the lock is no evidence. */
#define RANK_FEW_ACCESSES 4
#define RANK_FEW (-10)

int protect_share(uint64_t held, uint64_t total, int points)
{
	return held >= total ? points : (int)((double)points * (double)held / (double)total);
}

static int by_lists(const struct protection *p, const struct prune_rules *rules, const struct prot_access *a, bool two_writers)
{
	struct datum_name datum;
	struct list_query query = {.datum = &datum,
				   .function = protect_function(p, a->function),
				   .changes = a->rw & INSN_WRITE,
				   .two_writers = two_writers};
	const struct list_entry *e;

	datum_of_memory(&a->memory, &datum);
	query.kind = LIST_REFCOUNT;
	if (rules_datum(rules, &query))
		return RANK_REFCOUNT;
	query.kind = LIST_COUNTER;
	if (rules_datum(rules, &query))
		return RANK_STATISTIC;
	query.kind = LIST_APPROXIMATE;
	if (rules_datum(rules, &query))
		return RANK_STATISTIC;
	query.kind = LIST_RAISE;
	e = rules_datum(rules, &query);
	return e ? e->points : 0;
}

void protect_rank(const struct protection *p, const struct prune_rules *rules, struct suspicion *s)
{
	const struct prot_access *a = &p->accesses[s->side[0]], *b = &p->accesses[s->side[1]];
	bool two_writers = a->rw & b->rw & INSN_WRITE;

	s->rank = protect_share(s->held, s->total, RANK_SHARE);
	s->rank += s->concurrent ? RANK_CONCURRENT : 0;
	s->rank += protect_inside(p, a, s->lock) ? RANK_INSIDE : 0;
	s->rank += two_writers ? RANK_TWO_WRITERS : 0;
	s->rank += a->context_known && b->context_known && a->context != b->context ? RANK_INTERRUPT : 0;
	s->rank += s->total < RANK_FEW_ACCESSES ? RANK_FEW : 0;
	s->rank += rules ? by_lists(p, rules, b, two_writers) : 0;
}
