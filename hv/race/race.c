// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes and frees a race, two sites that were observed in conflict, and copies observations into it. */
#include "hv/race/race.h"

#include <stdlib.h>
#include <string.h>

#include "hv/race/printable.h"

struct race *race_new(void)
{
	return calloc(1, sizeof(struct race));
}

void race_free(struct race *race)
{
	if (!race)
		return;
	race_names_free(race->names);
	free(race->replay);
	free(race->modules);
	free(race->instances);
	for (int i = 0; i < 2; i++)
		free(race->side_memory[i]);
	free(race);
}

static uint32_t at_most(uint32_t value, uint32_t max)
{
	return value < max ? value : max;
}

/* Limit the side's lengths to the maxima of observation.h. Returns how many bytes of `below` are in use. */
static uint32_t cut_lengths(struct race_side *side)
{
	uint32_t below = 0;

	side->code_len = at_most(side->code_len, RACE_CODE_MAX);
	side->callee_count = at_most(side->callee_count, RACE_CALLEES_MAX);
	side->stack_len = at_most(side->stack_len, RACE_STACK_MAX);
	side->calls.count = at_most(side->calls.count, UNWIND_FRAMES_MAX);
	side->locks.set.count = (uint8_t)at_most(side->locks.set.count, LOCKSET_MAX);
	for (int i = 0; i < GUEST_STACKS_MAX - 1; i++) {
		side->interrupted[i].len = at_most(side->interrupted[i].len, RACE_STACK_MAX - below);
		below += side->interrupted[i].len;
	}
	return below;
}

/* Copy `len` bytes to *at, and advance *at by `len`. Returns the copy. */
static void *append(uint8_t **at, const void *from, size_t len)
{
	void *copy = *at;

	if (len)
		memcpy(copy, from, len);
	*at += len;
	return copy;
}

int race_keep_side(struct race *race, unsigned which, const struct race_side *from)
{
	struct race_side side = *from;
	uint32_t below = cut_lengths(&side);
	size_t frames = side.calls.count * sizeof(*side.calls.frames), callees = side.callee_count * sizeof(*side.callees);
	/* Allocate one extra byte, so that the pointers are valid even if all arrays are empty. */
	uint8_t *block = malloc(frames + callees + side.code_len + side.stack_len + below + 1), *at = block;

	if (!block)
		return -1;
	/* Copy the arrays that need alignment first. */
	side.calls.frames = append(&at, from->calls.frames, frames);
	side.callees = append(&at, from->callees, callees);
	side.code = append(&at, from->code, side.code_len);
	side.stack = append(&at, from->stack, side.stack_len);
	side.below = append(&at, from->below, below);
	printable_side(&side);
	free(race->side_memory[which]);
	race->side_memory[which] = block;
	race->first.sides[which] = side;
	return 0;
}

void race_keep_device(struct race *race, unsigned which, const struct race_side *from)
{
	struct race_side *side = &race->first.sides[which];

	*side = (struct race_side){.kind = RACE_SIDE_DEVICE, .rw = from->rw, .device = from->device};
	printable_device(&side->device);
}

struct race_instance *race_add_instance(struct race *race)
{
	/*
	 * The capacity of the array is 1, 2, 4 or 8 instances, so the array is full exactly when the count is 0 or a power of
	 * two.
	 */
	if ((race->kept & (race->kept - 1)) == 0) {
		size_t room = race->kept ? 2 * (size_t)race->kept : 1;
		struct race_instance *instances = realloc(race->instances, room * sizeof(*instances));

		if (!instances)
			return NULL;
		race->instances = instances;
	}
	race->instances[race->kept] = (struct race_instance){0};
	return &race->instances[race->kept++];
}

int race_have_replay(struct race *race)
{
	if (!race->replay)
		race->replay = calloc(1, sizeof(*race->replay));
	return race->replay ? 0 : -1;
}
