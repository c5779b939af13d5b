// SPDX-License-Identifier: GPL-2.0-or-later
/* Analyses the store of a pointer (see rcu_publish.h). */
#include "pruner/patterns/rcu_publish.h"
#include "pruner/patterns/rcu_publish_writer.h"

static const char *allocator_of(const struct writer *w)
{
	int i = flow_definition(w->s->flow, &w->what);

	return i < 0 ? NULL : writer_callee(w, (unsigned)i, LIST_ALLOC);
}

void rcu_publish_of(const struct view *v, const struct view_side *s, struct rcu_publish *out)
{
	struct writer w = {.v = v, .s = s, .at = s->at};
	struct flow_pointer exchanged;

	*out = (struct rcu_publish){0};
	if (!s->followed || !s->writes)
		return;
	exchanged = flow_exchanged(s->flow, s->at);
	if (!writer_is_plain_store(&w, s->at) && exchanged.root == FLOW_POINTER_UNKNOWN)
		return;
	out->known = s->code.closed;
	w.where = flow_address(s->flow, s->at);
	w.what = flow_stored(s->flow, s->at);
	writer_reachable(&w, s->at, -1, false, w.after);
	writer_reachable(&w, s->at, -1, true, w.before_grace);
	out->allocator = allocator_of(&w);
	writer_find_removed(&w, out);
	out->prepares = writer_prepares(&w);
	out->leaves_link = writer_leaves_link(&w);
	out->links_table = writer_links_table(&w);
	writer_find_frees(&w, out);
	out->reused = writer_reuses(&w);
	out->escapes = writer_escapes(&w);
	out->completes_late = out->allocator && writer_completes_late(&w);
}
