// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/flow/ways.h"

#include <string.h>

struct search {
	const struct code *code;
	const int16_t *closed;
	const bool *ends;
	bool *reached;
	unsigned queue[RACE_CODE_MAX];
	unsigned len;
};

static void reach(struct search *s, unsigned i)
{
	if (s->reached[i])
		return;
	s->reached[i] = true;
	if (!s->ends || !s->ends[i])
		s->queue[s->len++] = i;
}

static void go_on(struct search *s, unsigned i)
{
	int next[2];
	unsigned n = code_next(s->code, i, next);

	for (unsigned j = 0; j < n; j++) {
		if (next[j] != CODE_OUTSIDE && !(s->closed && s->closed[i] == next[j]))
			reach(s, (unsigned)next[j]);
	}
}

void ways(const struct code *code, int from, const int16_t closed[RACE_CODE_MAX], const bool ends[RACE_CODE_MAX],
	  bool reached[RACE_CODE_MAX])
{
	struct search s = {.code = code, .closed = closed, .ends = ends, .reached = reached};

	memset(reached, 0, RACE_CODE_MAX * sizeof(reached[0]));
	if (from >= 0)
		go_on(&s, (unsigned)from);
	for (unsigned i = 0; i < code->count && from < 0; i++) {
		if (i == 0 || !code->insns[i].entered)
			reach(&s, i);
	}
	while (s.len)
		go_on(&s, s.queue[--s.len]);
}
