/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A case for the search for atomicity suspicions: three accesses in two critical sections of one function and a section of
 * another context. All are under one lock, or the two sections are under two locks and the section in between is under both.
 * Functions answer questions about these sections. Private to atomicity*.c.
 */
#ifndef OUTRIDER_PRUNER_LOCKS_ATOMICITY_FACTS_H
#define OUTRIDER_PRUNER_LOCKS_ATOMICITY_FACTS_H

#include "pruner/locks/protect_facts.h"

/* The uses of the data of one object, or of one variable: under one lock, or under any lock to judge pairs of two locks. */
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
