// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds objects that a function uses again while readers may still access them. */
#include "pruner/patterns/rcu_publish_writer.h"

#include <stdlib.h>

/*
 * Two fixed addresses less than this number of bytes apart count as addresses in one variable. The code does not show where a
 * variable ends, so the number is a guess.
 */
#define FIXED_OBJECT 256

/*
 * Returns whether both pointers may point into one object. The result is true in doubt, because it is used only as evidence
 * against the writer.
 */
static bool maybe_same_object(const struct flow_pointer *a, const struct flow_pointer *b)
{
	return writer_same_object(a, b) ||
	       (a->root == FLOW_POINTER_FIXED && b->root == FLOW_POINTER_FIXED && llabs(a->disp - b->disp) < FIXED_OBJECT);
}

/* Returns whether the function changes the link of the removed object after the store, without a grace period in between. */
static bool is_relinked(const struct writer *w)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		struct flow_pointer where;

		if (!w->before_grace[i] || i == w->at || !writer_is_plain_store(w, i))
			continue;
		where = flow_address(w->s->flow, i);
		if (w->link.root != FLOW_POINTER_UNKNOWN && writer_same_address(&where, &w->link))
			return true;
	}
	return false;
}

/*
 * Returns whether the function removes an object, and then makes it reachable again by the store without a grace period between
 * the removal and the store.
 */
static bool is_put_back(const struct writer *w)
{
	bool after[RACE_CODE_MAX];
	struct flow_pointer link;

	for (unsigned i = 0; i < w->s->code.count; i++) {
		if (i == w->at || !writer_is_plain_store(w, i) || !writer_unlinks(w, i, &link) ||
		    !maybe_same_object(&link, &w->what))
			continue;
		writer_reachable(w, i, -1, true, after);
		if (after[w->at])
			return true;
	}
	return false;
}

/*
 * Returns whether the store is into an object that the function makes reachable only later: a later store puts a pointer to
 * this object elsewhere. A later store does not count if it puts the pointer into the same object, or into the object whose
 * address was stored, since that is a back link.
 */
static bool is_before_publication(const struct writer *w)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		struct flow_pointer where, what;

		if (!w->before_grace[i] || i == w->at || !writer_is_plain_store(w, i))
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
