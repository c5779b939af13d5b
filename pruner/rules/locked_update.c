// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for locked updates: one side changes the datum by a LOCKed instruction, and the other side only reads the datum. The
 * kernel reads such data by atomic_read() and test_bit(), which are plain loads in machine code, so the read is most likely
 * marked. Only the source shows this, and the reader may rely on an old value, so the class is unclear.
 */
#include "pruner/patterns/freed.h"
#include "pruner/patterns/last_user.h"
#include "pruner/rules/raise.h"
#include "pruner/rules/rules.h"

bool rule_locked_update(const struct view *v, struct verdict *out)
{
	unsigned w = v->side[0].side->locked ? 0 : 1;
	const struct view_side *writer = &v->side[w], *reader = &v->side[!w];

	if (!writer->side->locked || !writer->writes || reader->side->locked || !view_only_reads(reader) || reader->source_read)
		return false;
	if (reader->read.dereferenced || raise_is_pointer(v) || raise_may_tear(v) || last_user_destroys(v, !w) ||
	    raise_frees(v, !w) || freed_after(v, w, FREED_OWN))
		return false;
	out->class = VERDICT_UNCLEAR;
	out->rule = RULE_LOCKED_UPDATE;
	verdict_evidence(
		out,
		"%s changes %s by a LOCKed instruction, and %s only reads it, as atomic_read() and test_bit() do; only "
		"the source shows if the read is one of these",
		view_function(writer), v->datum, view_function(reader));
	return true;
}
