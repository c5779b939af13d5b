// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects that are used again while readers may still be at them. */
#include "pruner/publish_writer.h"

#include <stdlib.h>

/* Bytes that a variable's parts may be apart. What lies farther from a fixed address is taken to be another object. */
#define FIXED_OBJECT 256

/* Whether both may be into one object, as parts of one variable are. For what counts against the writer. */
static bool maybe_same_object(const struct flow_pointer *a, const struct flow_pointer *b)
{
	return writer_same_object(a, b) ||
	       (a->root == FLOW_POINTER_FIXED && b->root == FLOW_POINTER_FIXED && llabs(a->disp - b->disp) < FIXED_OBJECT);
}

/* What was taken out has its link changed behind the store. */
static bool is_relinked(const struct writer *w)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		struct flow_pointer where;

		if (!w->at_once[i] || i == w->at || !writer_is_plain_store(w, i))
			continue;
		where = flow_address(w->s->flow, i);
		if (w->link.root != FLOW_POINTER_UNKNOWN && writer_same_address(&where, &w->link))
			return true;
	}
	return false;
}

/* What the store makes reachable was taken out before, with no grace period in between. */
static bool is_put_back(const struct writer *w)
{
	bool behind[RACE_CODE_MAX];
	struct flow_pointer link;

	for (unsigned i = 0; i < w->s->code.count; i++) {
		if (i == w->at || !writer_is_plain_store(w, i) || !writer_unlinks(w, i, &link) ||
		    !maybe_same_object(&link, &w->what))
			continue;
		writer_spread(w, i, -1, true, behind);
		if (behind[w->at])
			return true;
	}
	return false;
}

/* The store is into an object that a store behind it makes reachable. A link back from what is stored does not count. */
static bool is_before_publication(const struct writer *w)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		struct flow_pointer where, what;

		if (!w->at_once[i] || i == w->at || !writer_is_plain_store(w, i))
			continue;
		where = flow_address(w->s->flow, i);
		what = flow_stored(w->s->flow, i);
		if (where.root != FLOW_POINTER_UNKNOWN && writer_same_object(&what, &w->where) && where.root != w->where.root &&
		    where.root != w->what.root)
			return true;
	}
	return false;
}

bool writer_reuses(const struct writer *w)
{
	return is_relinked(w) || is_put_back(w) || is_before_publication(w);
}
