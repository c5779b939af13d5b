/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Races recorded in the AMD lab (`make demo`, stock 6.1 kernel, named by the module's debug information; stacks left out), to
 * be changed for each test.
 */
#ifndef OUTRIDER_TEST_PRUNE_RACES_H
#define OUTRIDER_TEST_PRUNE_RACES_H

#include <stdio.h>
#include <string.h>

#include "hv/report/json/load.h"
#include "pruner/prune.h"

#define PRUNE_RACES "tests/data/ground-truth-races.json"

/* The side of that function in the recorded race of two functions. */
static inline struct race *recorded(struct report_load *l, const char *a, const char *b)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct race_side *s = l->races[i]->first.sides;

		if ((strcmp(s[0].symbol.name, a) == 0 && strcmp(s[1].symbol.name, b) == 0) ||
		    (strcmp(s[0].symbol.name, b) == 0 && strcmp(s[1].symbol.name, a) == 0))
			return l->races[i];
	}
	return NULL;
}

static inline unsigned side_of(const struct race *race, const char *function)
{
	return strcmp(race->first.sides[0].symbol.name, function) != 0;
}

/* A function of its own, which is nothing but `code`, whose instruction at `at` is the access. */
static inline void set_code(struct race *race, unsigned side, const void *code, size_t len, uint32_t at)
{
	struct race_side *s = &race->first.sides[side];

	s->symbol.addr = s->code_gva;
	s->symbol.size = len;
	s->code_len = (uint32_t)len;
	memcpy(s->code, code, len);
	s->pc = s->code_gva + at;
	s->callee_count = 0;
}

/* What debug files would say of both sides' datum. */
static inline void set_datum(struct race *race, const char *variable, const char *owner, const char *member)
{
	for (unsigned i = 0; i < 2; i++) {
		struct datum_name *d = &race->names->datum[i];

		*d = (struct datum_name){.by = DATUM_BY_VARIABLE};
		snprintf(d->path, sizeof(d->path), "%s.%s", variable, member);
		snprintf(d->variable, sizeof(d->variable), "%s", variable);
		snprintf(d->owner, sizeof(d->owner), "%s", owner);
		snprintf(d->member, sizeof(d->member), "%s", member);
	}
}

#endif
