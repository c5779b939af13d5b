// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/session/replay_names.h"

#include <stdio.h>
#include <string.h>

#include "hv/report/datum.h"

/* Bytes of a kernel stack, which is aligned to its size. */
#define STACK_SIZE 16384u

void replay_map_read(const struct guest *g, struct replay_map *map)
{
	const struct symtab *symbols = guest_symtab(g);
	uint64_t text = symtab_addr(symbols, "_text"), end = symtab_addr(symbols, "_end");
	uint64_t base = symtab_addr(symbols, "page_offset_base");

	*map = (struct replay_map){0};
	if (text && end > text && guest_translate(g, text, &map->image_gpa) == 0) {
		map->image_gva = text;
		map->image_len = end - text;
	}
	if (!base || guest_read(g, base, &map->direct_map, sizeof(map->direct_map)))
		map->direct_map = 0;
}

void replay_meeting_take(const struct meeting *m, struct replay_meeting *out)
{
	*out = (struct replay_meeting){.gva = m->sides[0].gva, .gpa = m->sides[0].gpa, .regs = m->sides[0].regs};
	for (unsigned i = 0; i < 2; i++) {
		out->rsp[i] = m->sides[i].regs.gpr[X86_RSP];
		memcpy(out->comm[i], m->sides[i].context.comm, sizeof(out->comm[i]));
	}
}

/* Whether the kernel has this GPA at this GVA. */
static bool is_at(const struct guest *g, uint64_t gva, uint64_t gpa)
{
	uint64_t there;

	return guest_translate(g, gva, &there) == 0 && there == gpa;
}

/* The GVA of a byte on one of the two stacks, and whose stack it is. 0: it is on none. */
static uint64_t on_stack(const struct guest *g, const struct replay_meeting *met, uint64_t gpa, unsigned *side)
{
	for (*side = 0; *side < 2; ++*side) {
		uint64_t start = met->rsp[*side] & ~(uint64_t)(STACK_SIZE - 1);

		for (uint64_t page = start; page < start + STACK_SIZE; page += X86_PAGE_SIZE) {
			uint64_t gva = page + gpa % X86_PAGE_SIZE;

			if (is_at(g, gva, gpa))
				return gva;
		}
	}
	return 0;
}

/* The datum's own page comes first, since a module's variables have another address in the direct map. */
static uint64_t find_gva(const struct guest *g, const struct replay_map *map, const struct replay_meeting *met, uint64_t gpa)
{
	uint64_t gva = map->image_gva + (gpa - map->image_gpa);

	if (gpa / X86_PAGE_SIZE == met->gpa / X86_PAGE_SIZE)
		return met->gva + (gpa - met->gpa);
	if (map->image_len && gpa >= map->image_gpa && gpa - map->image_gpa < map->image_len && is_at(g, gva, gpa))
		return gva;
	gva = map->direct_map + gpa;
	return map->direct_map && is_at(g, gva, gpa) ? gva : 0;
}

/* The kernel's own variables, objects of its slabs, and per-CPU memory have names. */
static void name_memory(const struct guest *g, const struct replay_meeting *met, struct replay_difference *d)
{
	struct guest_page_state page;
	struct guest_memory m = {0};
	char path[DATUM_TEXT_MAX];

	guest_page_state(g, d->gpa, &page);
	guest_memory_at(g, &met->regs, &page, d->gva, d->len, &m);
	if (datum_memory_path(&m, path))
		snprintf(d->name, sizeof(d->name), "%.*s", REPLAY_NAME_MAX - 1, path);
}

static void name_one(const struct guest *g, const struct replay_map *map, const struct replay_meeting *met,
		     struct replay_difference *d)
{
	unsigned side;
	uint64_t gva = on_stack(g, met, d->gpa, &side);

	if (gva) {
		d->gva = gva;
		snprintf(d->name, sizeof(d->name), "stack of %.*s", (int)sizeof(met->comm[side]), met->comm[side]);
		return;
	}
	d->gva = find_gva(g, map, met, d->gpa);
	if (d->gva)
		name_memory(g, met, d);
}

void replay_names_give(const struct guest *g, const struct replay_map *map, const struct replay_meeting *met,
		       struct replay_instance *instance)
{
	for (uint32_t i = 0; i < instance->kept; i++) {
		if (!instance->differences[i].is_register && !instance->differences[i].name[0])
			name_one(g, map, met, &instance->differences[i]);
	}
	replay_clean(instance);
}
