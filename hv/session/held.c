// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which copies of the machine are held paused, and for how long (held.h). */
#include "hv/session/held.h"

#include <string.h>

/*
 * The time, in ns, from one copy that is made to be held until the next such copy: at least EVERY_NS (200 ms), and at least
 * COST times as long as the guest stood still for the first of the two. So these copies stop the guest for less than 1 / COST
 * of the time.
 */
#define EVERY_NS UINT64_C(200000000)
#define COST 20u

bool held_due(const struct held_pace *pace, uint64_t now)
{
	return now >= pace->next_ns;
}

void held_made(struct held_pace *pace, uint64_t begin, uint64_t end)
{
	uint64_t rest = COST * (end - begin);

	pace->next_ns = end + (rest > EVERY_NS ? rest : EVERY_NS);
}

/* Returns whether a newer copy of the same race is held. */
static bool is_renewed(const struct held_copy *list, unsigned count, unsigned index)
{
	for (unsigned i = 0; i < count; i++) {
		if (list[i].held && list[i].made_ns > list[index].made_ns && strcmp(list[i].race, list[index].race) == 0)
			return true;
	}
	return false;
}

int held_surplus(const struct held_copy *list, unsigned count, uint64_t now)
{
	unsigned held = 0;
	int oldest = -1, renewed = -1;

	for (unsigned i = 0; i < count; i++) {
		if (!list[i].held)
			continue;
		held++;
		if (oldest < 0 || list[i].made_ns < list[oldest].made_ns)
			oldest = (int)i;
		if (is_renewed(list, count, i))
			renewed = (int)i;
	}
	if (oldest >= 0 && now - list[oldest].made_ns >= HELD_NS)
		return oldest;
	if (renewed >= 0)
		return renewed;
	return held > HELD_MAX ? oldest : -1;
}
