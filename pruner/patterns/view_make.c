// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a view: computes once all facts that the rules need. */
#include <stdio.h>
#include <stdlib.h>

#include "pruner/lists/datum_match.h"
#include "pruner/patterns/lock.h"
#include "pruner/patterns/mark.h"
#include "pruner/patterns/view.h"

static void mark_shows(const struct prune_rules *rules, struct code *code)
{
	for (unsigned i = 0; i < code->count; i++) {
		const char *callee = code->insns[i].callee;

		code->insns[i].shows = callee && rules_function(rules, LIST_SHOW, callee);
	}
}

static int load_side(struct view *v, unsigned which)
{
	const struct race *race = v->race;
	struct view_side *s = &v->side[which];

	s->side = &race->first.sides[which];
	s->reads = race->rw[which] & INSN_READ;
	s->writes = race->rw[which] & INSN_WRITE;
	if (race->names && race->names->datum[which].by != DATUM_UNNAMED)
		s->datum = &race->names->datum[which];
	if (s->side->kind == RACE_SIDE_DEVICE)
		device_kind(&s->side->device, s->device);
	if (s->side->kind != RACE_SIDE_CPU)
		return 0;
	code_load(&s->code, v->rules->decoder, s->side);
	mark_shows(v->rules, &s->code);
	s->flow = flow_new(&s->code);
	if (!s->flow)
		return -1;
	if (s->code.access >= 0) {
		s->followed = true;
		s->at = (unsigned)s->code.access;
		flow_read(s->flow, s->at, &s->read);
		flow_write(s->flow, s->at, &s->write);
	}
	s->lock = lock_held_at(v, s);
	return 0;
}

struct view *view_new(const struct prune_rules *rules, const struct related *related, const struct race *race)
{
	struct view *v = malloc(sizeof(*v));

	if (!v)
		return NULL;
	v->rules = rules;
	v->race = race;
	v->related = related;
	datum_of_memory(&v->race->first.memory, &v->by_memory);
	if (!datum_path(race, v->datum))
		snprintf(v->datum, sizeof(v->datum), "the datum");
	for (unsigned i = 0; i < 2; i++) {
		struct view_side *s = &v->side[i];

		/*
		 * Set only the members that are read before load_side() sets them. Clearing the whole struct would cost time:
		 * its array of decoded instructions has tens of kilobytes, of which most stay unused.
		 */
		s->datum = NULL;
		s->flow = NULL;
		s->followed = s->marked = s->source_read = false;
		s->lock = LOCK_UNKNOWN;
		s->mark[0] = s->device[0] = s->lock_why[0] = '\0';
	}
	for (unsigned i = 0; i < 2; i++) {
		if (load_side(v, i) < 0) {
			view_free(v);
			return NULL;
		}
	}
	for (unsigned i = 0; i < 2; i++) {
		if (v->side[i].side->kind == RACE_SIDE_CPU)
			mark_side(v, i, &v->side[i]);
	}
	return v;
}

void view_free(struct view *v)
{
	if (!v)
		return;
	for (unsigned i = 0; i < 2; i++)
		flow_free(v->side[i].flow);
	free(v);
}
