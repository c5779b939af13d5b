// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/patterns/section.h"

#include "pruner/code/flow/seqcount.h"

bool section_of_writer(const struct view *v)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct view_side *s = &v->side[i];
		const struct flow_access store = {.flow = s->flow, .at = s->at, .regs = &s->side->regs, .gva = s->side->gva};
		struct seqcount_section section;

		if (s->followed && s->writes && seqcount_of_any(&store, &section))
			return true;
	}
	return false;
}
