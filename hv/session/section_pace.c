// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which critical sections get a copy of the machine (section_pace.h). */
#include "hv/session/section_pace.h"

#include <stddef.h>

#define COPIES_MAX 64u
/* Spreads addresses over the table (Knuth, TAOCP vol. 3, 6.4). */
#define HASH_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/*
 * Returns the slot of these three sections. If the sections have no slot yet: with `make`, takes a free slot, or returns NULL
 * if all slots are taken; without `make`, returns NULL.
 */
static struct section_pace_slot *find(struct section_pace *p, uint64_t first, uint64_t second, uint64_t between, bool make)
{
	uint64_t hash = ((first * 31 + second) * 31 + between) * HASH_MULTIPLIER;
	size_t at = (size_t)(hash >> 32) % SECTION_PACE_SLOTS;

	for (size_t i = 0; i < SECTION_PACE_SLOTS; i++) {
		struct section_pace_slot *s = &p->slots[(at + i) % SECTION_PACE_SLOTS];

		if (!s->first) {
			if (!make || p->used == SECTION_REPLAYS_MAX)
				return NULL;
			p->used++;
			*s = (struct section_pace_slot){.first = first, .second = second, .between = between, .next = 1};
		}
		if (s->first == first && s->second == second && s->between == between)
			return s;
	}
	return NULL;
}

bool section_pace_wants(struct section_pace *p, uint64_t first, uint64_t second, uint64_t between, bool begin)
{
	struct section_pace_slot *s = find(p, first, second, between, begin);

	if (!s)
		return !begin && p->used < SECTION_REPLAYS_MAX;
	if (s->confirmed || s->copies >= COPIES_MAX)
		return false;
	if (!begin)
		return true;
	if (++s->offered < s->next)
		return false;
	s->copies++;
	s->next = s->offered + s->copies - s->unknown;
	return true;
}

void section_pace_told(struct section_pace *p, uint64_t first, uint64_t second, uint64_t between, enum section_outcome outcome)
{
	struct section_pace_slot *s = find(p, first, second, between, false);

	if (!s)
		return;
	s->confirmed |= outcome == SECTION_OUTCOME_CONFIRMED;
	if (outcome != SECTION_OUTCOME_UNKNOWN || s->unknown == s->copies)
		return;
	s->unknown++;
	if (s->next > s->offered + 1)
		s->next--;
}
