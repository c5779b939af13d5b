// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for double-checked locking (PLDI'07, table 2). The reader tests the datum without the lock, takes the lock and tests
 * the datum again. Only the second test counts. The writer holds the lock.
 */
#include "pruner/patterns/lock.h"
#include "pruner/rules/rules.h"

static bool checks_again(const struct view *v, const struct view_side *s)
{
	return s->followed && s->reads && !s->writes && s->read.tested && !s->read.dereferenced && s->lock != LOCK_HELD &&
	       lock_checked_again(v, s);
}

bool rule_double_check(const struct view *v, struct verdict *out)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *reader = &v->side[r], *writer = &v->side[!r];

	if (writer->side->kind != RACE_SIDE_CPU || !writer->writes || !checks_again(v, reader))
		return false;
	out->class = writer->lock == LOCK_HELD ? VERDICT_BENIGN : VERDICT_UNCLEAR;
	out->rule = RULE_DOUBLE_CHECKED_LOCKING;
	verdict_evidence(out, "%s tests %s without a lock, then calls %s() and tests it again; %s %s", view_function(reader),
			 v->datum, lock_called_after(v, reader, LIST_LOCK), view_function(writer),
			 writer->lock == LOCK_HELD ? writer->lock_why : "writes it, and its code shows no lock");
	if (writer->lock == LOCK_HELD)
		verdict_evidence(out, " when it writes it");
	return true;
}
