/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A case for the search for atomicity suspicions: three accesses in two critical sections of one function and a section of
 * another context. All are under one lock, or the two sections are under two locks and the section in between is under both.
 * The functions below answer questions about these sections. A section decides by a datum if it reads the datum, compares the
 * value and branches. Private to atomicity*.c.
 */
#ifndef OUTRIDER_PRUNER_LOCKS_ATOMICITY_FACTS_H
#define OUTRIDER_PRUNER_LOCKS_ATOMICITY_FACTS_H

#include "pruner/locks/protect_facts.h"

/*
 * The uses (struct prot_use) of the data of one object or one variable. They are under one lock, or, if pairs of sections under
 * two locks are judged, under any lock.
 */
struct atomicity_group {
	const struct protection *p;
	/* Indices into p->uses[], sorted by word and access. */
	const uint32_t *uses;
	uint32_t count;
};

/* Two sections of one function, and a section of another context. */
struct atomicity_case {
	const struct atomicity_group *group;
	const struct section_pair *sections;
	const struct prot_use *first, *second, *between;
};

const struct prot_access *atomicity_access(const struct atomicity_group *g, const struct prot_use *use);
const struct prot_use *atomicity_use(const struct atomicity_group *g, uint32_t i);

/*
 * Returns whether the use is in the section that begins with the lock call at `taken_at`, and accesses a byte that the access
 * `datum` accesses.
 */
bool atomicity_in(const struct atomicity_group *g, const struct prot_use *use, uint64_t taken_at,
		  const struct prot_access *datum);

/*
 * Returns how often a section that begins with the lock call at `taken_at` was seen between the two sections of `s`. NULL:
 * never.
 */
const struct section_between *atomicity_came_between(const struct section_pair *s, uint64_t taken_at);

/*
 * Returns the outcomes of running the three sections in copies, or NULL if there were no copies. In a copy, the function in
 * between runs from its section to its end. So a copy in which another section of this function came in between confirms the
 * case, too.
 */
const struct section_replay *atomicity_replay(const struct atomicity_case *c);

/* ---- atomicity_code.c: what the code of a section does, as seen in this section or in another one ---- */

/*
 * Returns whether the decision `use` in the second section looks for something else than the first section: it keeps the second
 * access from being made for one value of the datum only, and the first section compares the datum with another constant. Then
 * it does not check again what the first section found. If either of them compares with 0, the decision counts as a check
 * again: a comparison with 0 is often all that the second access needs, and a datum that is compared with 0 may have two
 * values.
 */
bool atomicity_looks_for_another(const struct atomicity_case *c, const struct prot_use *use);

/*
 * Returns whether the function of the second section's access decides by the datum before this access, in the same section. The
 * decision may have been seen in another section, and with another object of the type.
 */
bool atomicity_checks_on_the_way(const struct atomicity_case *c);

/*
 * Returns whether the function of the first section's access writes the datum after this access, in the same section. The write
 * may have been seen in another section, and with another object of the type. Writes to an object that is not published yet do
 * not count.
 */
bool atomicity_writes_on_the_way(const struct atomicity_case *c);

/*
 * Returns whether the function that accesses `flag` also writes the member that `value` accesses, in any object, in the section
 * that begins with the lock call at `taken_at`.
 */
bool atomicity_sets_both(const struct protection *p, uint64_t taken_at, const struct prot_access *flag,
			 const struct prot_access *value);

/*
 * Returns whether the first section belongs to a loop over several objects with one lock: in most cases, the loop made several
 * such sections before the second section, and the lock is in none of the objects.
 */
bool atomicity_several_objects(const struct atomicity_case *c);

/* Returns whether one instruction of the two sections accesses several objects under a lock that is in none of them. */
bool atomicity_several(const struct atomicity_case *c);

/*
 * Returns whether the section reads the datum before `write`, or in the same instruction. The written value then comes from a
 * value that was read in this section.
 */
bool atomicity_reads_first(const struct atomicity_group *g, uint64_t taken_at, const struct prot_access *write);

/* Returns the bits of the datum by which the code decides, or all bits if it does not decide. */
uint64_t atomicity_checked_bits(const struct prot_use *first);

/* ---- atomicity_fate.c ---- */

/*
 * Judge a case in which the first section reads the datum, by what was seen of the fate of the datum (hv/race/section_fate.h).
 * Returns ATOMICITY_TOLD if the fate leaves it a suspicion, or if too few cases were followed. Otherwise returns the reason why
 * it is none, or -1 if the first section itself changes the datum after its access.
 */
int atomicity_tell_fate(const struct atomicity_case *c);

/*
 * The first section reads the datum. Returns whether one section in between may be chance: there were enough cases in which the
 * run followed the datum, or in which no other section came in between, and the datum was not seen to change there. Returns
 * false if the first section writes: then a section that reads in between is all that can be seen.
 */
bool atomicity_may_be_chance(const struct atomicity_case *c);

/* ---- atomicity_rules.c, atomicity_text.c ---- */

/*
 * Judge the case. Returns ATOMICITY_TOLD if it is a suspicion, and sets *pattern. Otherwise returns the reason why the code is
 * correct, or -1 if no reason is needed, since the interleaving equals a serial order.
 */
int atomicity_tell(const struct atomicity_case *c, enum atomicity_pattern *pattern);

/*
 * As atomicity_tell(), for two data of one object: `first` writes the first datum, `second` the second datum, and `between`
 * reads the second datum, in a section that decides by the first datum.
 */
int atomicity_tell_publish(const struct atomicity_case *c);

/*
 * Describe the suspicion `s` in one sentence, or, if `told` is a reason and not ATOMICITY_TOLD, say why the case is no
 * suspicion.
 */
void atomicity_describe(const struct protection *p, const struct suspicion *s, int told, char *out, size_t size);

#endif
