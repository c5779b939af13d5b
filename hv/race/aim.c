// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/race/aim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct aim {
	struct aim_race *races;
	size_t count, room;
};

struct aim *aim_new(void)
{
	return calloc(1, sizeof(struct aim));
}

void aim_free(struct aim *aim)
{
	if (!aim)
		return;
	free(aim->races);
	free(aim);
}

/* Returns why no breakpoint can be set at this side's access, or NULL if the record shows no obstacle. */
static const char *why_no_site(const struct race_side *side)
{
	if (side->by_device)
		return "is a device";
	if (!side->known)
		return "was not seen";
	if (!side->pc)
		return "is not known to the instruction";
	if (!side->symbol.name[0] || side->pc - side->symbol.addr > UINT32_MAX)
		return "is in no known function";
	if (side->locked)
		return "is a LOCKed instruction, which is never held";
	return NULL;
}

static void take_code(const struct race_side *side, struct aim_site *site)
{
	uint64_t at = side->pc - side->code_gva, rest;

	if (at >= side->code_len)
		return;
	rest = side->code_len - at;
	site->code_len = (uint8_t)(rest < INSN_MAX_LEN ? rest : INSN_MAX_LEN);
	memcpy(site->code, side->code + at, site->code_len);
}

const struct aim_race *aim_add(struct aim *aim, const struct race *race)
{
	size_t room = aim->room ? 2 * aim->room : 16;
	struct aim_race *races, *added;

	if (aim->count == aim->room) {
		races = realloc(aim->races, room * sizeof(*races));
		if (!races)
			return NULL;
		aim->races = races;
		aim->room = room;
	}
	added = &aim->races[aim->count++];
	*added = (struct aim_race){0};
	snprintf(added->id, sizeof(added->id), "%s", race->id);
	for (unsigned i = 0; i < 2; i++) {
		const struct race_side *side = &race->first.sides[i];
		struct aim_site *site = &added->sites[added->count];

		snprintf(added->site[i], sizeof(added->site[i]), "%s", race->site[i]);
		added->why_not[i] = why_no_site(side);
		if (added->why_not[i])
			continue;
		site_function(&side->symbol, site->function);
		site->offset = (uint32_t)(side->pc - side->symbol.addr);
		take_code(side, site);
		added->count++;
	}
	return added;
}

size_t aim_count(const struct aim *aim)
{
	return aim->count;
}

const struct aim_race *aim_race(const struct aim *aim, size_t i)
{
	return &aim->races[i];
}
