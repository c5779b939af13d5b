// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the known races that a run is to see again (--aim), and their target sites. */
#include "hv/race/known_races.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "symbols/insn/count.h"

struct known_races {
	struct insn_decoder *decoder;
	struct known_race *races;
	size_t count;
};

struct known_races *known_races_new(void)
{
	struct known_races *known = calloc(1, sizeof(*known));

	if (known)
		known->decoder = insn_decoder_new();
	if (known && !known->decoder) {
		free(known);
		return NULL;
	}
	return known;
}

void known_races_free(struct known_races *known)
{
	if (!known)
		return;
	insn_decoder_free(known->decoder);
	free(known->races);
	free(known);
}

static void take_code(const struct race_side *side, struct target_site *site)
{
	uint64_t at = side->pc - side->code_gva, rest;

	if (at >= side->code_len)
		return;
	rest = side->code_len - at;
	site->code_len = (uint8_t)(rest < INSN_MAX_LEN ? rest : INSN_MAX_LEN);
	memcpy(site->code, side->code + at, site->code_len);
}

/* Whether the side is the get of a race of a get with the last put (hv/detect/window/last_put.h). */
static bool is_get(const struct known_races *known, const struct race_side *side, const struct race_side *other)
{
	struct target_site site = {0};
	struct insn insn;

	/* A CPU is held before the get, and stopped after the put. */
	take_code(side, &site);
	return side->locked && other->locked && side->regs.rip == side->pc &&
	       insn_decode(known->decoder, site.code, site.code_len, side->pc, &insn) && insn_may_count_up(&insn);
}

/* Returns why no breakpoint can be set at this side's access, or NULL if the record shows no obstacle. */
static const char *why_no_site(const struct known_races *known, const struct race_side *side, const struct race_side *other)
{
	if (side->kind == RACE_SIDE_DEVICE)
		return "is a device";
	if (side->kind != RACE_SIDE_CPU)
		return "was not seen";
	if (!side->pc)
		return "is not known to the instruction";
	if (!side->symbol.name[0] || side->pc - side->symbol.addr > UINT32_MAX)
		return "is in no known function";
	if (side->locked && !is_get(known, side, other))
		return "is a LOCKed instruction, at which outrider holds no CPU";
	return NULL;
}

const struct known_race *known_races_add(struct known_races *known, const struct race *race)
{
	struct known_race *added = list_grow(&known->races, &known->count, sizeof(*added), NULL);

	if (!added)
		return NULL;
	snprintf(added->id, sizeof(added->id), "%s", race->id);
	for (unsigned i = 0; i < 2; i++) {
		const struct race_side *side = &race->first.sides[i];
		struct target_site *site = &added->sites[added->count];

		snprintf(added->site[i], sizeof(added->site[i]), "%s", race->site[i]);
		added->why_not[i] = why_no_site(known, side, &race->first.sides[!i]);
		if (added->why_not[i])
			continue;
		site_function(&side->symbol, site->function);
		site->offset = (uint32_t)(side->pc - side->symbol.addr);
		take_code(side, site);
		added->count++;
	}
	return added;
}

size_t known_races_count(const struct known_races *known)
{
	return known->count;
}

const struct known_race *known_races_get(const struct known_races *known, size_t i)
{
	return &known->races[i];
}
