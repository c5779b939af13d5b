// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the critical sections in the recording of one side (held.h). */
#include "hv/explore/held.h"

#include <stdlib.h>
#include <string.h>

/*
 * The most locks of one side that wait for their release. When one more is taken, the oldest of them counts as never released.
 * Without a limit, a guest that takes many locks and releases none would make held_find() take hours.
 */
#define LOCKS_HELD_MAX 64u
#define NOT_RELEASED 0u /* the value of `to` until the lock is released: no release has this number */

int held_find(struct held *s, const struct explore_access *access, uint32_t count,
	      enum held_act (*act)(void *ctx, const struct explore_access *access), void *ctx)
{
	size_t open[LOCKS_HELD_MAX], open_count = 0;

	*s = (struct held){.section = calloc(count + 1u, sizeof(*s->section))};
	for (uint32_t i = 0; i < count && s->section; i++) {
		const struct explore_access *a = &access[i];
		enum held_act does = act(ctx, a);
		size_t n = 0;

		if (!(a->rw & INSN_WRITE))
			continue;
		while (n < open_count && s->section[open[n]].gva != a->gva)
			n++;
		if (does != HELD_NOTHING && n < open_count) {
			s->section[open[n]].from = a->at;
			s->section[open[n]].shared = does == HELD_TAKES_SHARED;
		} else if (does != HELD_NOTHING) {
			if (open_count == LOCKS_HELD_MAX)
				memmove(open, open + 1, --open_count * sizeof(*open));
			open[open_count++] = s->count;
			s->section[s->count++] = (struct held_section){
				.gva = a->gva, .from = a->at, .to = NOT_RELEASED, .shared = does == HELD_TAKES_SHARED};
		} else if (n < open_count) {
			s->section[open[n]].to = a->at;
			s->section[open[n]].release = a;
			memmove(open + n, open + n + 1, (--open_count - n) * sizeof(*open));
		}
	}
	return s->section ? 0 : -1;
}

void held_free(struct held *s)
{
	free(s->section);
	*s = (struct held){0};
}

bool held_at(const struct held *s, uint64_t gva, uint32_t at)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->section[i].gva == gva && s->section[i].from <= at && at <= s->section[i].to)
			return true;
	return false;
}

/* Returns whether a side takes the lock of the other side's section before its instruction number `before`, and must wait. */
static bool waits_for(const struct held *s, const struct held_section *held, uint32_t before)
{
	for (size_t i = 0; i < s->count && s->section[i].from < before; i++)
		if (s->section[i].gva == held->gva && !(s->section[i].shared && held->shared))
			return true;
	return false;
}

bool held_blocks(const struct held *held, uint32_t at, const struct held *other, uint32_t before)
{
	for (size_t i = 0; i < held->count && held->section[i].from <= at; i++)
		if (at < held->section[i].to && waits_for(other, &held->section[i], before))
			return true;
	return false;
}
