// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/code/flow/reachability.h"

#include <string.h>

struct search {
	const struct code *code;
	const int16_t *removed;
	const bool *ends;
	bool *reached;
	unsigned queue[RACE_CODE_MAX];
	unsigned len;
};

static void visit(struct search *s, unsigned i)
{
	if (s->reached[i])
		return;
	s->reached[i] = true;
	if (!s->ends || !s->ends[i])
		s->queue[s->len++] = i;
}

static void visit_successors(struct search *s, unsigned i)
{
	int next[2];
	unsigned n = code_successors(s->code, i, next);

	for (unsigned j = 0; j < n; j++) {
		if (next[j] != CODE_OUTSIDE && !(s->removed && s->removed[i] == next[j]))
			visit(s, (unsigned)next[j]);
	}
}

void reachable(const struct code *code, int from, const int16_t removed[RACE_CODE_MAX], const bool ends[RACE_CODE_MAX],
	       bool reached[RACE_CODE_MAX])
{
	struct search s = {.code = code, .removed = removed, .ends = ends, .reached = reached};

	memset(reached, 0, RACE_CODE_MAX * sizeof(reached[0]));
	if (from >= 0)
		visit_successors(&s, (unsigned)from);
	for (unsigned i = 0; i < code->count && from < 0; i++) {
		if (i == 0 || !code->insns[i].has_predecessor)
			visit(&s, i);
	}
	while (s.len)
		visit_successors(&s, s.queue[--s.len]);
}
