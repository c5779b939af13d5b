// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for data that are only peeked at: the reader is a function of the list `peek`, such as datagram_poll(), which tells
 * its caller what it found at this moment. The caller sleeps and asks again, or makes a call such as recvmsg(), which checks
 * the data again under the lock. A wakeup can still be missed, so the class is unclear.
 */
#include "pruner/rules/raise.h"
#include "pruner/rules/rules.h"

bool rule_peek(const struct view *v, struct verdict *out)
{
	unsigned w = v->side[0].writes ? 0 : 1;
	const struct view_side *writer = &v->side[w], *reader = &v->side[!w];

	if (!view_only_reads(reader) || !view_changes(writer) ||
	    !rules_function(v->rules, LIST_PEEK, reader->side->symbol.name))
		return false;
	if (reader->read.dereferenced || raise_is_pointer(v) || raise_may_tear(v) || raise_frees(v, w))
		return false;
	out->class = VERDICT_UNCLEAR;
	out->rule = RULE_ONLY_PEEKED;
	verdict_evidence(
		out,
		"%s only tells its caller what %s is at this moment, and the caller asks again; that is a bug if %s wakes "
		"the caller before it stores",
		view_function(reader), v->datum, view_function(writer));
	return true;
}
