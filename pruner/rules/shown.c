// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Only shown: all that becomes of a number that is read is that people see it, as in /proc. The datum's old value is as good as
 * the new one to them. Not so of a pointer, which may be gone through to show what is there; of a length, by which an array may
 * be shown; of a number of which a part may be seen; nor where the writer frees what the datum is in, or may.
 */
#include "pruner/lock.h"
#include "pruner/raise.h"
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
	    !is_a_number(v) || lock_called_behind(v, writer, LIST_FREE))
		return false;
	out->class = VERDICT_BENIGN;
	out->rule = "only-shown";
	verdict_evidence(out, "all that %s does with %s is to show it to people", view_function(reader), v->datum);
	return true;
}
