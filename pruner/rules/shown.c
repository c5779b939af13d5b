// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for data that are only shown: the reader prints a number for people, as in /proc, and uses the number for nothing
 * else. For people the old value is as good as the new value. The rule does not fit a pointer, which may be followed to print
 * its object; a length, which may limit the printing of an array; a number that may be torn; or a datum in an object that the
 * writer may free.
 */
#include "pruner/patterns/lock.h"
#include "pruner/rules/raise.h"
#include "pruner/rules/rules.h"

static bool is_all_shown(const struct flow_read *read)
{
	return read->shown && !read->escapes && !read->tested && !read->dereferenced && !read->written_back;
}

static bool is_a_number(const struct view *v)
{
	return v->side[0].side->size && v->side[1].side->size && !raise_is_pointer(v) && !raise_may_tear(v) &&
	       !view_listed(v, LIST_RAISE, NULL) && !view_listed(v, LIST_REFCOUNT, NULL);
}

bool rule_shown(const struct view *v, struct verdict *out)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *reader = &v->side[r], *writer = &v->side[!r];

	if (!reader->followed || !writer->followed || reader->writes || !writer->writes || !is_all_shown(&reader->read) ||
	    !is_a_number(v) || lock_called_after(v, writer, LIST_FREE))
		return false;
	out->class = VERDICT_BENIGN;
	out->rule = RULE_ONLY_SHOWN;
	verdict_evidence(out, "%s only prints %s for people", view_function(reader), v->datum);
	return true;
}
