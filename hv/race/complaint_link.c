// SPDX-License-Identifier: GPL-2.0-or-later
/* Says which race a complaint of the guest's kernel belongs to. */
#include "hv/race/complaint_link.h"

#include <string.h>

#include "hv/base/x86.h"

/*
 * A complaint follows an instance of a race only if the instance is at most 10 s older. The kernel finds a bad pointer, list or
 * refcount only when the kernel next uses it, which can be seconds later.
 */
#define SOON_NS UINT64_C(10000000000)
/*
 * Number of innermost calls of a complaint's call trace in which the side's function is looked for. The kernel often complains
 * in a helper that this function calls, such as list_del().
 */
#define CALLS_MAX 4

static bool in_function(const struct complaint_place *place, const struct race_side *side)
{
	return side->kind == RACE_SIDE_CPU && side->symbol.name[0] && strcmp(place->function, side->symbol.name) == 0 &&
	       strcmp(place->module, side->symbol.module) == 0;
}

static enum complaint_link link_by_code(const struct complaint *c, const struct race_side *side)
{
	if (in_function(&c->where, side))
		return side->pc && side->pc - side->symbol.addr == c->where.offset ? COMPLAINT_SAME_INSTRUCTION
										   : COMPLAINT_SAME_FUNCTION;
	for (unsigned i = 0; i < c->frame_count && i < CALLS_MAX; i++) {
		if (in_function(&c->frames[i], side))
			return COMPLAINT_SAME_FUNCTION;
	}
	return COMPLAINT_UNLINKED;
}

/*
 * Maximum distance in bytes between a pointer's value and the faulting address of an access by this pointer. The access is to a
 * member of the object to which the pointer points: after the pointer's value or, with list_entry(), before it. For a pointer
 * of value NULL, the kernel's default of vm.mmap_min_addr, also 4096, keeps the bytes after NULL free of mappings.
 */
#define MEMBER_MAX 4096u

static bool is_close(uint64_t address, uint64_t pointer)
{
	return address - pointer < MEMBER_MAX || pointer - address < MEMBER_MAX;
}

/*
 * Returns whether the race's datum held a pointer that led to the faulting address. The datum counts as a pointer if one of its
 * values before or after a conflict is a kernel address. The value that led to the fault may be NULL.
 */
static bool by_pointer(const struct complaint *c, const struct race *race)
{
	bool pointer = false, led = false;
	uint64_t values[2];

	for (unsigned i = 0; i < race->kept; i++) {
		const struct race_instance *instance = &race->instances[i];

		if (!c->address_known || instance->data_len != sizeof(values[0]))
			return false;
		memcpy(&values[0], instance->before, sizeof(values[0]));
		memcpy(&values[1], instance->after, sizeof(values[1]));
		for (unsigned j = 0; j < 2; j++) {
			pointer |= x86_kernel_address(values[j]);
			led |= is_close(c->address, values[j]);
		}
	}
	return pointer && led;
}

static bool same_object(const struct complaint *c, const struct race *race)
{
	const struct guest_memory *m = &race->first.memory;

	return c->address_known && m->object && c->address - m->object < m->object_size;
}

/*
 * Set *after to the time in ns that passed between the complaint and the race's last instance before it. Returns false if no
 * instance came before the complaint, or if that instance is older than SOON_NS.
 */
static bool follows(const struct complaint *c, const struct race *race, uint64_t *after)
{
	uint64_t before = race->last_ns <= c->time_ns ? race->last_ns : 0;

	for (unsigned i = 0; i < race->kept; i++) {
		uint64_t at = race->instances[i].time_ns;

		if (at <= c->time_ns && at > before)
			before = at;
	}
	*after = c->time_ns - before;
	return before && *after <= SOON_NS;
}

static void set_link(struct race *race, const struct complaint *c, enum complaint_link link, unsigned side, uint64_t after)
{
	struct race_complaint *out = &race->complaint;

	if (link <= out->link)
		return;
	*out = (struct race_complaint){.link = link,
				       .kind = c->kind,
				       .side = side,
				       .after_ns = after,
				       .null_pointer = c->address_known && c->address < MEMBER_MAX};
	memcpy(out->text, c->text, sizeof(out->text));
	memcpy(out->where, c->where.text, sizeof(out->where));
}

void complaint_link_race(struct race *race, const struct complaint *complaints, size_t count)
{
	race->complaint = (struct race_complaint){0};
	for (size_t i = 0; i < count; i++) {
		const struct complaint *c = &complaints[i];
		uint64_t after;

		if (!follows(c, race, &after))
			continue;
		for (unsigned side = 0; side < 2; side++) {
			enum complaint_link link = link_by_code(c, &race->first.sides[side]);

			if (link == COMPLAINT_SAME_FUNCTION && by_pointer(c, race))
				link = COMPLAINT_SAME_POINTER;
			set_link(race, c, link, side, after);
		}
		if (same_object(c, race))
			set_link(race, c, COMPLAINT_SAME_OBJECT, 0, after);
	}
}

const char *complaint_link_word(enum complaint_link link)
{
	static const char *const words[] = {
		[COMPLAINT_UNLINKED] = "none",
		[COMPLAINT_SAME_FUNCTION] = "same-function",
		[COMPLAINT_SAME_POINTER] = "same-pointer",
		[COMPLAINT_SAME_OBJECT] = "same-object",
		[COMPLAINT_SAME_INSTRUCTION] = "same-instruction",
	};

	return words[link];
}
