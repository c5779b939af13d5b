// SPDX-License-Identifier: GPL-2.0-or-later
/* What a store of a pointer is about. */
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
	out->hands_on = writer_hands_on(&w);
	out->completes_late = out->maker && writer_completes_late(&w);
}

const char *publish_frees_at_once(const struct view *v, const struct view_side *s)
{
	const struct writer w = {.v = v, .s = s, .at = s->at};
	bool at_once[RACE_CODE_MAX];

	if (!s->followed)
		return NULL;
	writer_spread(&w, s->at, -1, true, at_once);
	for (unsigned i = 0; i < s->code.count; i++) {
		const char *callee = s->code.insns[i].callee;

		if (at_once[i] && callee && rules_function(v->rules, LIST_FREE, callee) &&
		    !rules_function(v->rules, LIST_GRACE_FREE, callee))
			return callee;
	}
	return NULL;
}
