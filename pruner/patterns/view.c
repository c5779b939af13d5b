// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes the view of a race: all facts that more than one rule needs. */
#include "pruner/patterns/view.h"

#include <string.h>

#include "pruner/code/flow/dependency.h"

bool view_changes(const struct view_side *s)
{
	if (s->side->kind == RACE_SIDE_DEVICE)
		return s->writes;
	return s->side->kind != RACE_SIDE_CPU || s->writes || !s->reads || (s->followed && s->read.written_back);
}

bool view_only_reads(const struct view_side *s)
{
	return s->side->kind == RACE_SIDE_CPU && s->followed && !view_changes(s);
}

/* Returns whether the value that instruction `j` stores depends on the value that instruction `i` loads. */
static bool depends_on(const struct view_side *s, unsigned i, unsigned j)
{
	struct flow_dependencies by = {0};

	flow_dependencies(&s->code, i, &by);
	return by.data[j];
}

bool view_updates(const struct view_side *s)
{
	if (s->side->kind != RACE_SIDE_CPU || !s->followed)
		return false;
	if ((s->reads && (s->writes || s->read.written_back)) || (s->writes && s->write.merges))
		return true;
	for (unsigned i = 0; i < s->code.count; i++) {
		const struct insn *insn = &s->code.insns[i].op.insn;

		if (i == s->at || insn->nmem != 1 || !flow_same_place(s->flow, s->at, i))
			continue;
		if (s->writes && insn->mem[0].rw == INSN_READ && depends_on(s, i, s->at))
			return true;
	}
	return false;
}

/*
 * Debug files often name the datum in the code of one side only. Both sides access the same datum, so the name that debug files
 * give in the code of the other side is also a name for side `which`.
 */
void view_names(const struct view *v, unsigned which, const struct datum_name *out[VIEW_NAMES])
{
	out[0] = v->side[which].datum;
	out[1] = v->side[!which].datum;
	out[2] = v->by_memory.by != DATUM_UNNAMED ? &v->by_memory : NULL;
}

static const struct list_entry *listed_for(const struct view *v, unsigned which, enum list_kind kind,
					   const struct datum_name **name)
{
	const struct datum_name *names[VIEW_NAMES];
	struct list_query query = {.kind = kind, .function = v->side[which].side->symbol.name};
	const struct list_entry *e = NULL;

	view_names(v, which, names);
	query.changes = view_changes(&v->side[which]);
	query.two_writers = query.changes && view_changes(&v->side[!which]);
	for (unsigned i = 0; i < VIEW_NAMES && !e; i++) {
		query.datum = names[i];
		e = names[i] ? rules_datum(v->rules, &query) : NULL;
		if (e && name)
			*name = names[i];
	}
	return e;
}

const struct list_entry *view_listed(const struct view *v, enum list_kind kind, const struct datum_name **name)
{
	const struct list_entry *e = listed_for(v, 0, kind, name);

	return e ? e : listed_for(v, 1, kind, name);
}

const char *view_function(const struct view_side *s)
{
	if (s->side->kind == RACE_SIDE_DEVICE)
		return s->device;
	return s->side->symbol.name[0] ? s->side->symbol.name : "an unknown function";
}

uint64_t view_offset(const struct view_side *s, unsigned i)
{
	return s->code.insns[i].op.insn.addr - (s->side->symbol.name[0] ? s->side->symbol.addr : s->side->code_gva);
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
