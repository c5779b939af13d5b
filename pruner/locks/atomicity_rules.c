// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds which of AVIO's interleavings the section in between makes, and whether the code is correct although the section comes
 * in between. The order of the accesses in a section is taken from machine code: an access at a higher address of the function
 * counts as later.
 */
#include "pruner/locks/atomicity_facts.h"
#include "pruner/locks/protect_pair.h"

const struct prot_use *atomicity_use(const struct atomicity_group *g, uint32_t i)
{
	return &g->p->uses[g->uses[i]];
}

const struct prot_access *atomicity_access(const struct atomicity_group *g, const struct prot_use *use)
{
	return &g->p->accesses[use->access];
}

bool atomicity_in(const struct atomicity_group *g, const struct prot_use *use, uint64_t taken_at,
		  const struct prot_access *datum)
{
	const struct prot_access *a = atomicity_access(g, use);

	return use->taken_at == taken_at && protect_same_datum(a, datum) && protect_overlap(a, datum);
}

const struct section_between *atomicity_came_between(const struct section_pair *s, uint64_t taken_at)
{
	for (unsigned i = 0; i < SECTION_BETWEEN_MAX; i++) {
		if (s->between[i].count && s->between[i].taken_at == taken_at)
			return &s->between[i];
	}
	return NULL;
}

/* Returns whether the function has the call at `taken_at`, with which a section begins. */
static bool begins_in(const struct protection *p, uint64_t taken_at, uint32_t function)
{
	for (uint32_t i = 0; i < p->use_count; i++) {
		if (p->uses[i].taken_at == taken_at && p->accesses[p->uses[i].access].function == function)
			return true;
	}
	return false;
}

const struct section_replay *atomicity_replay(const struct atomicity_case *c)
{
	const struct protection *p = c->group->p;
	uint32_t function = atomicity_access(c->group, c->between)->function;
	const struct section_replay *own = section_replay_find(p->section_replays, p->section_replay_count, c->sections->first,
							       c->sections->second, c->between->taken_at);

	if (section_verdict(own) == SECTION_VERDICT_CONFIRMED)
		return own;
	for (uint32_t i = 0; i < p->section_replay_count; i++) {
		const struct section_replay *r = &p->section_replays[i];

		if (r->first == c->sections->first && r->second == c->sections->second &&
		    section_verdict(r) == SECTION_VERDICT_CONFIRMED && begins_in(p, r->between, function))
			return r;
	}
	return own;
}

/* ---- questions about a section ---- */

static bool reads(const struct prot_access *a)
{
	return a->rw & INSN_READ;
}

static bool writes(const struct prot_access *a)
{
	return a->rw & INSN_WRITE;
}

/*
 * Returns whether the section decides by the datum: reads it, compares it and branches. With `again`, which may be NULL, a
 * decision of this case that looks for something else than the first section does not count.
 */
static bool decides(const struct atomicity_group *g, uint64_t taken_at, const struct prot_access *datum,
		    const struct atomicity_case *again)
{
	for (uint32_t i = 0; i < g->count; i++) {
		const struct prot_use *use = atomicity_use(g, i);

		if (use->decides && atomicity_in(g, use, taken_at, datum) &&
		    !(again && atomicity_looks_for_another(again, use)))
			return true;
	}
	return false;
}

static bool checks(const struct atomicity_group *g, uint64_t taken_at, const struct prot_access *datum)
{
	return decides(g, taken_at, datum, NULL);
}

static bool section_writes(const struct atomicity_group *g, uint64_t taken_at, const struct prot_access *datum)
{
	for (uint32_t i = 0; i < g->count; i++) {
		const struct prot_use *use = atomicity_use(g, i);

		if (writes(atomicity_access(g, use)) && atomicity_in(g, use, taken_at, datum))
			return true;
	}
	return false;
}

/* Returns whether the section writes the datum after this access: then the access is not the section's last one. */
static bool writes_later(const struct atomicity_group *g, const struct prot_use *first)
{
	const struct prot_access *datum = atomicity_access(g, first);

	for (uint32_t i = 0; i < g->count; i++) {
		const struct prot_use *use = atomicity_use(g, i);
		const struct prot_access *a = atomicity_access(g, use);

		if (writes(a) && a->pc > datum->pc && atomicity_in(g, use, first->taken_at, datum))
			return true;
	}
	return false;
}

/*
 * Returns whether one instruction accesses the object in both sections: a loop that releases the lock between batches goes on
 * in the second section.
 */
static bool in_batches(const struct atomicity_case *c)
{
	const struct atomicity_group *g = c->group;
	uint64_t pc[2] = {atomicity_access(g, c->first)->pc, atomicity_access(g, c->second)->pc};
	bool in_second = false, in_first = false;

	for (uint32_t i = 0; i < g->count; i++) {
		const struct prot_use *use = atomicity_use(g, i);

		in_second |= use->taken_at == c->sections->second && atomicity_access(g, use)->pc == pc[0];
		in_first |= use->taken_at == c->sections->first && atomicity_access(g, use)->pc == pc[1];
	}
	return in_second || in_first;
}

/*
 * Returns whether the second section decides by another datum of the object, such as a version, which the section in between
 * writes.
 */
static bool has_version(const struct atomicity_case *c)
{
	const struct atomicity_group *g = c->group;
	const struct prot_access *datum = atomicity_access(g, c->second);

	for (uint32_t i = 0; i < g->count; i++) {
		const struct prot_use *use = atomicity_use(g, i);
		const struct prot_access *a = atomicity_access(g, use);

		if (use->taken_at == c->sections->second && use->decides && !protect_same_datum(a, datum) &&
		    section_writes(g, c->between->taken_at, a))
			return true;
	}
	return false;
}

/*
 * Returns whether the first section writes another datum of the object, such as a busy flag, and the section in between decides
 * by that datum.
 */
static bool is_claimed(const struct atomicity_case *c)
{
	const struct atomicity_group *g = c->group;
	const struct prot_access *datum = atomicity_access(g, c->first);

	for (uint32_t i = 0; i < g->count; i++) {
		const struct prot_use *use = atomicity_use(g, i);
		const struct prot_access *a = atomicity_access(g, use);

		if (use->taken_at == c->sections->first && writes(a) && !protect_same_datum(a, datum) &&
		    checks(g, c->between->taken_at, a))
			return true;
	}
	return false;
}

/* ---- the interleavings ---- */

/*
 * Judge the interleavings read-write-write and read-write-read: the section in between changes the datum that the first section
 * has read.
 */
static int tell_read(const struct atomicity_case *c, enum atomicity_pattern *pattern)
{
	const struct atomicity_group *g = c->group;
	const struct prot_access *second = atomicity_access(g, c->second);
	bool first_decides = c->first->decides;

	if (decides(g, c->sections->second, second, c))
		return ATOMICITY_CHECKED_AGAIN;
	if (!first_decides && writes(second) && atomicity_reads_first(g, c->sections->second, second))
		return ATOMICITY_COUNTER;
	if (!first_decides && !writes(second))
		return ATOMICITY_SNAPSHOT;
	if (atomicity_checks_on_the_way(c))
		return ATOMICITY_CHECKED_AGAIN;
	*pattern = first_decides ? ATOMICITY_CHECK_ACT : ATOMICITY_UPDATE;
	return ATOMICITY_TOLD;
}

/*
 * Judge the interleaving write-write-read: the section in between overwrites the datum that the first section has written, and
 * the second section reads it.
 */
static int tell_read_back(const struct atomicity_case *c, enum atomicity_pattern *pattern)
{
	const struct atomicity_group *g = c->group;
	const struct prot_access *first = atomicity_access(g, c->first), *between = atomicity_access(g, c->between);

	if (checks(g, c->sections->second, first))
		return ATOMICITY_CHECKED_AGAIN;
	if (atomicity_reads_first(g, c->sections->first, first) && atomicity_reads_first(g, c->between->taken_at, between))
		return ATOMICITY_COUNTER;
	/* The second section reads the datum and stores it again, as for the flags in a word. */
	if (writes_later(g, c->second))
		return ATOMICITY_REPLACED;
	*pattern = ATOMICITY_READ_BACK;
	return ATOMICITY_TOLD;
}

/*
 * Judge the interleaving write-read-write: the section in between reads the value that the first section has written and that
 * the second section then replaces.
 */
static int tell_half_done(const struct atomicity_case *c, enum atomicity_pattern *pattern)
{
	const struct atomicity_group *g = c->group;
	const struct prot_access *first = atomicity_access(g, c->first), *second = atomicity_access(g, c->second);

	if (checks(g, c->between->taken_at, first))
		return ATOMICITY_STATE;
	if (atomicity_reads_first(g, c->sections->first, first) && atomicity_reads_first(g, c->sections->second, second))
		return ATOMICITY_COUNTER;
	/* The section in between reads the datum and stores it again, as for the links of a list or with an or. */
	if (writes(atomicity_access(g, c->between)) || writes_later(g, c->between))
		return ATOMICITY_REPLACED;
	*pattern = ATOMICITY_HALF_DONE;
	return ATOMICITY_TOLD;
}

/* Returns whether a copy with the other section in between had an outcome of its own. */
static bool is_confirmed(const struct atomicity_case *c)
{
	return section_verdict(atomicity_replay(c)) == SECTION_VERDICT_CONFIRMED;
}

/*
 * Judge the interleavings that the three accesses make. If one of them is a suspicion, sets *pattern and returns
 * ATOMICITY_TOLD. Returns -1 if all of them equal a serial order. Otherwise returns why the first interleaving that equals no
 * serial order is correct code.
 */
static int tell_pattern(const struct atomicity_case *c, enum atomicity_pattern *pattern)
{
	const struct prot_access *first = atomicity_access(c->group, c->first), *second = atomicity_access(c->group, c->second),
				 *between = atomicity_access(c->group, c->between);
	int told[3] = {-1, -1, -1}, out = -1;

	/*
	 * In the first section, a step along a list says whether the list has a next object. The second section may put another
	 * object into the list, so it does not depend on the step. A read after which the code stores to the datum is not the
	 * section's last access to it, also if the store was never sampled, unless a copy confirms the case.
	 */
	if (writes(between) && !writes(first) && !c->first->steps && (!c->first->stores_back || is_confirmed(c)) &&
	    !writes_later(c->group, c->first))
		told[0] = tell_read(c, pattern);
	if (told[0] == ATOMICITY_TOLD && atomicity_writes_on_the_way(c))
		told[0] = -1;
	/*
	 * If the two sections are under two locks, only check-then-act can be an atomicity suspicion. In every other
	 * interleaving, a section writes the datum under one of the locks alone. protect_judge() suspects these, too: the write
	 * and the accesses under the other lock alone are a suspicion of kind SUSPICION_UNPROTECTED.
	 */
	if (c->sections->two_locks)
		return told[0] == ATOMICITY_TOLD && *pattern != ATOMICITY_CHECK_ACT ? -1 : told[0];
	if (told[0] != ATOMICITY_TOLD && writes(first) && writes(between) && reads(second) && !writes(second))
		told[1] = tell_read_back(c, pattern);
	if (told[0] != ATOMICITY_TOLD && told[1] != ATOMICITY_TOLD && writes(first) && reads(between) && writes(second))
		told[2] = tell_half_done(c, pattern);
	for (unsigned i = 0; i < 3; i++) {
		if (told[i] == ATOMICITY_TOLD)
			return ATOMICITY_TOLD;
		out = out < 0 ? told[i] : out;
	}
	return out;
}

/* ---- what holds for all interleavings ---- */

/*
 * Returns ATOMICITY_TOLD if the other section came in between in the run, or if a copy with this section in between confirms
 * the suspicion. Otherwise a lock that the run does not follow may keep the section away: returns ATOMICITY_NEVER or another
 * reason. Neither is it enough that the section came in between once, if this may be chance.
 */
static int tell_apart(const struct atomicity_case *c)
{
	const struct section_pair *s = c->sections;
	const struct prot_access *first = atomicity_access(c->group, c->first),
				 *between = atomicity_access(c->group, c->between);
	const struct section_between *seen = atomicity_came_between(s, c->between->taken_at);

	if (s->waited == s->count)
		return ATOMICITY_ORDERED;
	if (is_confirmed(c))
		return ATOMICITY_TOLD;
	if (seen)
		return seen->count == 1 && atomicity_may_be_chance(c) ? ATOMICITY_ONCE : ATOMICITY_TOLD;
	return protect_pair_concurrent(c->group->p, first, between) ? ATOMICITY_NEVER : ATOMICITY_APART;
}

/* Returns whether the access was made under the lock that the call at `taken_at` took. */
static bool holds_from(const struct protection *p, uint32_t access, uint32_t lock, uint64_t taken_at)
{
	for (uint32_t i = 0; i < p->use_count; i++) {
		const struct prot_use *use = &p->uses[i];

		if (use->access == access && use->lock == lock && use->taken_at == taken_at)
			return true;
	}
	return false;
}

/*
 * Returns whether one call took the lock for both accesses. If p->uses[] has no entry with the lock for either access, the lock
 * was taken outside of the subject, and the result is true.
 */
static bool taken_once(const struct protection *p, uint32_t first, uint32_t second, uint32_t lock)
{
	bool outside = true;

	for (uint32_t i = 0; i < p->use_count; i++) {
		const struct prot_use *use = &p->uses[i];

		if (use->lock != lock || (use->access != first && use->access != second))
			continue;
		if (use->access == first && holds_from(p, second, lock, use->taken_at))
			return true;
		outside = false;
	}
	return outside;
}

/*
 * Returns whether another lock is held from the first section to the second one, and the section in between holds that lock,
 * too. The other lock may have been taken outside of the subject: the subject then runs inside of that lock's section, from
 * start to end.
 */
static bool has_outer_lock(const struct atomicity_case *c)
{
	const struct protection *p = c->group->p;
	const struct prot_access *a = atomicity_access(c->group, c->first), *b = atomicity_access(c->group, c->second),
				 *r = atomicity_access(c->group, c->between);

	for (unsigned i = 0; i < a->held_count; i++) {
		const struct prot_held *one = &a->held[i], *other = protect_held(b, one->lock),
				       *third = protect_held(r, one->lock);

		if (one->lock == c->first->lock || one->lock == c->second->lock || !other || !third ||
		    (one->shared && third->shared))
			continue;
		if (taken_once(p, c->first->access, c->second->access, one->lock))
			return true;
	}
	return false;
}

/*
 * Returns whether the two sections are independent steps of a caller. The caller calls a function that makes one of the
 * sections, or two functions that make one section each. In check-then-act, the second section depends on the first one, so
 * the result is false, if the caller makes the first section itself, or decides by the result of the function that makes it. In
 * every other pattern the steps count as independent, because values that the caller passes on are not followed.
 */
static bool are_own_steps(const struct atomicity_case *c, enum atomicity_pattern pattern)
{
	return c->sections->caller && (pattern != ATOMICITY_CHECK_ACT || !c->sections->caller_decides);
}

/*
 * Returns whether the caller's decision, by the result of the function with the first section, does not depend on what the
 * first section reads: the function can return each of its results in any case.
 */
static bool has_same_results(const struct atomicity_case *c)
{
	const struct section_pair *s = c->sections;

	return s->caller && s->caller_name != PROTECTION_NONE && c->first->same_results &&
	       atomicity_access(c->group, c->first)->function != s->caller_name;
}

int atomicity_tell(const struct atomicity_case *c, enum atomicity_pattern *pattern)
{
	int told = tell_pattern(c, pattern);

	if (told != ATOMICITY_TOLD)
		return told;
	if (atomicity_access(c->group, c->second)->locked)
		return ATOMICITY_EXCHANGE;
	if (in_batches(c))
		return ATOMICITY_BATCH;
	if (has_version(c))
		return ATOMICITY_VERSION;
	if (is_claimed(c))
		return ATOMICITY_CLAIMED;
	if (has_outer_lock(c))
		return ATOMICITY_OUTER;
	if (are_own_steps(c, *pattern))
		return ATOMICITY_OWN_STEPS;
	if (has_same_results(c) && !is_confirmed(c))
		return ATOMICITY_EITHER;
	if (atomicity_several_objects(c))
		return ATOMICITY_OBJECTS;
	told = writes(atomicity_access(c->group, c->first)) ? ATOMICITY_TOLD : atomicity_tell_fate(c);
	return told == ATOMICITY_TOLD ? tell_apart(c) : told;
}

int atomicity_tell_publish(const struct atomicity_case *c)
{
	const struct atomicity_group *g = c->group;
	const struct prot_access *flag = atomicity_access(g, c->first), *value = atomicity_access(g, c->second);
	uint64_t between = c->between->taken_at;

	/*
	 * The pattern needs a first section that sets the flag but does not set the value, neither in this object nor in
	 * another object. (Code that links list entries sets the value in another object.) It also needs a section in between
	 * that decides by the flag and does not set the value itself.
	 */
	if (section_writes(g, c->sections->first, value) || !checks(g, between, flag) || section_writes(g, between, value) ||
	    atomicity_sets_both(g->p, c->sections->first, flag, value))
		return -1;
	if (in_batches(c))
		return ATOMICITY_BATCH;
	if (checks(g, between, value))
		return ATOMICITY_STATE;
	/*
	 * A first section that tests the flag before it sets the flag claims the object, as with a busy flag: the flag does not
	 * say that the value is there.
	 */
	if (checks(g, c->sections->first, flag))
		return ATOMICITY_CLAIMED;
	if (has_outer_lock(c))
		return ATOMICITY_OUTER;
	if (atomicity_several_objects(c))
		return ATOMICITY_OBJECTS;
	return tell_apart(c);
}
