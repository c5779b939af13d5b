// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Only shown: all that becomes of a number that is read is that people see it, as in /proc. The datum's old value is as good as
 * the new one to them; a pointer is not, for what shows it may go through it, nor a number of which a part may be seen.
 */
#include "pruner/view.h"

bool rule_shown(const struct view *v, struct verdict *out)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *reader = &v->side[r], *writer = &v->side[!r];

	if (!reader->followed || reader->writes || !writer->writes || !reader->read.shown || reader->read.escapes ||
	    reader->read.tested || reader->read.dereferenced || reader->read.written_back)
		return false;
	if (view_is_pointer(v) || view_may_tear(v) || called_behind(v, writer, LIST_FREE))
		return false;
	out->class = VERDICT_BENIGN;
	out->rule = "only-shown";
	evidence(out, "all that %s does with %s is to show it to people", view_function(reader), v->datum);
	return true;
}
