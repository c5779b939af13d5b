// SPDX-License-Identifier: GPL-2.0-or-later
/* What a store of a pointer is about, and what its reader makes of the pointer. */
#include "pruner/publish.h"
#include "pruner/publish_writer.h"

static const char *maker_of(const struct writer *w)
{
	int i = flow_source(w->s->flow, &w->what);

	return i < 0 ? NULL : writer_callee(w, (unsigned)i, LIST_ALLOC);
}

void publish_of(const struct view *v, const struct view_side *s, struct publish *out)
{
	struct writer w = {.v = v, .s = s, .at = s->at};
	struct flow_pointer exchanged;

	*out = (struct publish){0};
	if (!s->followed || !s->writes)
		return;
	exchanged = flow_exchanged(s->flow, s->at);
	if (!writer_is_plain_store(&w, s->at) && exchanged.root == FLOW_POINTER_UNKNOWN)
		return;
	out->known = s->code.closed;
	w.where = flow_address(s->flow, s->at);
	w.what = flow_stored(s->flow, s->at);
	writer_spread(&w, s->at, -1, false, w.behind);
	writer_spread(&w, s->at, -1, true, w.at_once);
	out->maker = maker_of(&w);
	writer_find_removed(&w, out);
	writer_find_frees(&w, out);
	out->reused = writer_reuses(&w);
}

static bool goes_through(const struct view_side *s, unsigned i, const struct flow_pointer *read)
{
	const struct insn *insn = &s->code.insns[i].op.insn;
	struct flow_pointer where;

	if (!insn->nmem)
		return false;
	where = flow_address(s->flow, i);
	return writer_same_object(&where, read);
}

bool publish_outlives_section(const struct view *v, const struct view_side *s)
{
	const struct writer w = {.v = v, .s = s, .at = s->at};
	const struct flow_pointer read = flow_loaded(s->flow, s->at);
	bool behind[RACE_CODE_MAX], later[RACE_CODE_MAX], outlives = false;

	if (!writer_is_object(&read))
		return false;
	writer_spread(&w, s->at, -1, false, behind);
	for (unsigned i = 0; i < s->code.count; i++) {
		if (behind[i] && s->code.insns[i].op.insn.flags & INSN_LOCKED && goes_through(s, i, &read))
			return false;
	}
	for (unsigned i = 0; i < s->code.count; i++) {
		if (!behind[i] || i == s->at || !writer_callee(&w, i, LIST_SECTION_END))
			continue;
		writer_spread(&w, i, (int)s->at, false, later);
		for (unsigned j = 0; j < s->code.count; j++)
			outlives |= later[j] && j != s->at && goes_through(s, j, &read);
	}
	return outlives;
}

bool publish_by_reader(const struct view_side *s)
{
	for (unsigned i = 0; i < s->code.count; i++) {
		const struct insn *insn = &s->code.insns[i].op.insn;
		struct flow_pointer what;

		if (i == s->at || !insn->nmem || !(insn->mem[0].rw & INSN_WRITE))
			continue;
		if (flow_same_place(s->flow, s->at, i))
			return true;
		what = flow_stored(s->flow, i);
		if (insn->mem[0].base != X86_RSP && what.root > 0 && flow_source(s->flow, &what) == (int)s->at)
			return true;
	}
	return false;
}