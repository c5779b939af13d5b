// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Judges a case by the fate of the datum that its first section reads: the run has read the datum again at the ends of the
 * sections (hv/race/section_fate.h). The accesses of a case may have been sampled in different activations. Its fate was seen
 * in one.
 */
#include "pruner/locks/atomicity_facts.h"

/* Judge by a fate only if it was seen in at least this many cases. */
#define CASES_ENOUGH 16u
/*
 * If one instruction accesses several objects under the lock, the second section acts on the datum that the first one has
 * checked if it changes this datum in at least a quarter of the cases. In faulty code it was seen to do so in nearly all cases.
 * In code that checks each of several objects, and then changes one of them, it does so in few cases. Cases in which the datum
 * changed in between are left out: the second section may then store the value that the datum has.
 */
#define ACTS_PART 4u

/*
 * The check does not decide whether the second section follows if each of the four combinations was seen at least this often:
 * the datum had the value that the code looks for, or another one; and the second section followed, or it did not.
 */
#define EITHER_ENOUGH 4u
/*
 * One section in between says little after this many cases. A run of some minutes saw the sections of faulty code in between
 * several times, even if that was only in one of 200 cases. A short run may miss such code.
 */
#define SEEN_ONCE_CASES 64u

/*
 * Returns the bits of the first section's datum that these bits of another access's datum are. Both are in one aligned word of
 * 8 bytes. Bits of that word outside of the first section's datum are left out.
 */
static uint64_t as_first(const struct prot_access *first, const struct prot_access *other, uint64_t bits)
{
	unsigned to = (unsigned)(first->gva % 8) * 8, from = (unsigned)(other->gva % 8) * 8;
	uint64_t own = first->size < 8 ? (UINT64_C(1) << 8 * first->size) - 1 : UINT64_MAX;

	return (bits << from) >> to & own;
}

/* Returns whether the second section stores a value without reading the datum: then it undoes any change in between. */
static bool overwrites(const struct atomicity_case *c)
{
	const struct prot_access *second = &c->group->p->accesses[c->second->access];

	return second->rw & INSN_WRITE && !atomicity_reads_first(c->group, c->sections->second, second);
}

/* Returns whether the section in between was seen to leave the bits alone on which the two sections depend. */
static bool leaves_alone(const struct atomicity_case *c)
{
	uint64_t bits = overwrites(c) ? UINT64_MAX : atomicity_checked_bits(c->first);
	const struct protection *p = c->group->p;
	const struct prot_access *first = &p->accesses[c->first->access], *between = &p->accesses[c->between->access];
	const struct section_fate *f = section_fate_find(p->fates, p->fate_count, between->pc, c->between->taken_at, 0);

	return f && f->seen >= CASES_ENOUGH && !(as_first(first, between, f->own_bits) & bits);
}

/* Returns whether the second section was seen to follow and not to follow, for either result of the check. */
static bool either_way(const struct section_fate *f)
{
	return f->reached[0] >= EITHER_ENOUGH && f->reached[1] >= EITHER_ENOUGH && f->missed[0] >= EITHER_ENOUGH &&
	       f->missed[1] >= EITHER_ENOUGH;
}

bool atomicity_may_be_chance(const struct atomicity_case *c)
{
	const struct protection *p = c->group->p;
	const struct section_fate *f = section_fate_find(p->fates, p->fate_count, p->accesses[c->first->access].pc,
							 c->sections->first, c->sections->second);

	if (p->accesses[c->first->access].rw != INSN_READ || (f && f->moved_bits & atomicity_checked_bits(c->first)))
		return false;
	return (f && f->seen >= CASES_ENOUGH) || c->sections->count >= SEEN_ONCE_CASES;
}

int atomicity_tell_fate(const struct atomicity_case *c)
{
	const struct protection *p = c->group->p;
	const struct prot_access *first = &p->accesses[c->first->access], *second = &p->accesses[c->second->access];
	const struct section_fate *f =
		section_fate_find(p->fates, p->fate_count, first->pc, c->sections->first, c->sections->second);

	if (leaves_alone(c))
		return ATOMICITY_UNCHANGED;
	if (f && either_way(f))
		return ATOMICITY_EITHER;
	if (!f || f->seen - f->moved < CASES_ENOUGH)
		return ATOMICITY_TOLD;
	if (2 * f->own > f->seen)
		return -1;
	if (second->rw & INSN_WRITE && (!f->acted || (ACTS_PART * f->acted < f->seen - f->moved && atomicity_several(c))))
		return ATOMICITY_ELSEWHERE;
	return ATOMICITY_TOLD;
}
