// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/view.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int load_side(struct view *v, unsigned which)
{
	const struct race *race = v->race;
	struct view_side *s = &v->side[which];

	s->side = &race->first.sides[which];
	s->reads = race->rw[which] & INSN_READ;
	s->writes = race->rw[which] & INSN_WRITE;
	if (race->names && race->names->datum[which].by != DATUM_UNNAMED)
		s->datum = &race->names->datum[which];
	if (!s->side->known)
		return 0;
	code_load(&s->code, v->rules->decoder, s->side);
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
	view_mark(v, which, s);
	return 0;
}

struct view *view_new(const struct prune_rules *rules, const struct race *race)
{
	struct view *v = malloc(sizeof(*v));

	if (!v)
		return NULL;
	v->rules = rules;
	v->race = race;
	for (unsigned i = 0; i < 2; i++) {
		struct view_side *s = &v->side[i];

		/* Not the instructions: tens of kilobytes, of which few are used. */
		s->datum = NULL;
		s->flow = NULL;
		s->followed = s->marked = false;
		s->lock = LOCK_UNKNOWN;
		s->mark[0] = '\0';
	}
	for (unsigned i = 0; i < 2; i++) {
		if (load_side(v, i) < 0) {
			view_free(v);
			return NULL;
		}
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

const char *view_datum(const struct view *v)
{
	const struct race_names *names = v->race->names;

	return names && names->datum[names->best].by != DATUM_UNNAMED ? names->datum[names->best].path : "the datum";
}

const char *view_function(const struct view_side *s)
{
	return s->side->symbol.name[0] ? s->side->symbol.name : "an unknown function";
}

bool view_values(const struct race_instance *instance, uint64_t *before, uint64_t *after)
{
	if (instance->data_len == 0 || instance->data_len > sizeof(*before))
		return false;
	*before = *after = 0;
	memcpy(before, instance->before, instance->data_len);
	memcpy(after, instance->after, instance->data_len);
	return true;
}

void evidence(struct verdict *out, const char *fmt, ...)
{
	size_t used = strlen(out->evidence);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out->evidence + used, sizeof(out->evidence) - used, fmt, ap);
	va_end(ap);
}
