// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for double fetches, which are bugs: a reader counts the entries of a list in one walk, and stores something for each
 * entry in a second walk, while the other side changes the list. RCU keeps each walk safe, but the list may grow between the
 * walks: the second walk may then find more entries than the first one counted, and store beyond the memory that was reserved
 * for them.
 */
#include <inttypes.h>

#include "pruner/patterns/counted_walk.h"
#include "pruner/rules/rules.h"

bool rule_double_fetch(const struct view *v, struct verdict *out)
{
	unsigned w = v->side[0].writes ? 0 : 1;
	const struct view_side *writer = &v->side[w], *reader = &v->side[!w];
	struct counted_walk walk;

	if (writer->side->kind != RACE_SIDE_CPU || !writer->writes || reader->writes || !counted_walk_of_side(reader, &walk))
		return false;
	out->class = VERDICT_HARMFUL;
	out->rule = RULE_DOUBLE_FETCH;
	verdict_evidence(
		out,
		"%s counts the entries of a list at +0x%" PRIx64 ", and stores something for each entry in a second walk "
		"of the list at +0x%" PRIx64 "; %s changes the list, so the second walk may find more entries than were "
		"counted",
		view_function(reader), view_offset(reader, walk.counts), view_offset(reader, walk.stores),
		view_function(writer));
	return true;
}
