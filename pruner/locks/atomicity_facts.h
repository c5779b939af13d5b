/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Three accesses under one lock in three critical sections, and questions about their sections. Private to atomicity*.c. */
#ifndef OUTRIDER_PRUNER_LOCKS_ATOMICITY_FACTS_H
#define OUTRIDER_PRUNER_LOCKS_ATOMICITY_FACTS_H

#include "pruner/locks/protect_facts.h"

/* The uses of the data of one object, or of one variable, under one lock. */
struct atomicity_group {
	const struct protection *p;
	const uint32_t *uses; /* indices into p->uses[], sorted by word and access */
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

/* Returns whether the use is in the section that the call at `taken_at` begins, and accesses a byte of `datum`. */
bool atomicity_in(const struct atomicity_group *g, const struct prot_use *use, uint64_t taken_at,
		  const struct prot_access *datum);

/* Returns the sections that the call at `taken_at` begins and that came between the two sections. NULL: none came. */
const struct section_between *atomicity_came_between(const struct section_pair *s, uint64_t taken_at);

/*
 * Returns the reason why the case is no suspicion, or ATOMICITY_TOLD if it is one. Sets *pattern if it is one. Returns -1 if
 * the interleaving equals a serial order, so that there is nothing to tell.
 */
int atomicity_tell(const struct atomicity_case *c, enum atomicity_pattern *pattern);

/*
 * The same for two data of one object: `first` writes the first datum, `second` the second datum, and `between` reads the
 * second datum, in a section that decides by the first datum.
 */
int atomicity_tell_publish(const struct atomicity_case *c);

/* Write the case in one sentence. `told`: why it is no suspicion, or ATOMICITY_TOLD. */
void atomicity_describe(const struct protection *p, const struct suspicion *s, int told, char *out, size_t size);

#endif
