// SPDX-License-Identifier: GPL-2.0-or-later
/* Names the memory that differs between the two orders of a race (replay_names.h). */
#include "hv/session/replay_names.h"

#include <stdio.h>
#include <string.h>

#include "hv/report/datum.h"

/* Look at this many pages before the datum's page, and at as many after it. Most modules have fewer pages of data. */
#define PAGES_AROUND 32u

void replay_rendezvous_take(const struct rendezvous *m, struct replay_rendezvous *out)
{
	*out = (struct replay_rendezvous){.gva = m->sides[0].gva, .gpa = m->sides[0].gpa};
	for (unsigned i = 0; i < 2; i++) {
		out->regs[i] = m->sides[i].regs;
		memcpy(out->comm[i], m->sides[i].context.comm, sizeof(out->comm[i]));
	}
}

/*
 * If the byte at the GPA `gpa` is on the stack of one of the two sides, returns the byte's GVA on that stack, and sets *side to
 * the index of that side. Returns 0 if the byte is on neither side's stack.
 */
static uint64_t on_stack(const struct guest *g, const struct replay_rendezvous *rendezvous, uint64_t gpa, unsigned *side)
{
	for (*side = 0; *side < 2; ++*side) {
		uint64_t start = guest_stack_start(&rendezvous->regs[*side]), end = guest_stack_end(&rendezvous->regs[*side]);

		for (uint64_t page = start; page < end; page += X86_PAGE_SIZE) {
			uint64_t gva = page + gpa % X86_PAGE_SIZE;

			if (guest_is_at(g, gva, gpa))
				return gva;
		}
	}
	return 0;
}

/*
 * Returns a GVA of a byte of guest-physical memory. guest_mapped_at() would give a module's variable a GVA in the kernel's
 * direct map, at which no variable is found. So if the race's datum is not in the direct map, look around it first: the byte
 * may be of the same module.
 */
static uint64_t find_gva(const struct guest *g, const struct replay_rendezvous *rendezvous, uint64_t gpa)
{
	uint64_t near = rendezvous->gva / X86_PAGE_SIZE * X86_PAGE_SIZE + gpa % X86_PAGE_SIZE;
	bool in_direct_map = guest_mapped_at(g, rendezvous->gpa) == rendezvous->gva;

	if (gpa / X86_PAGE_SIZE == rendezvous->gpa / X86_PAGE_SIZE)
		return near;
	for (uint64_t i = 1; !in_direct_map && i <= PAGES_AROUND; i++) {
		if (guest_is_at(g, near - i * X86_PAGE_SIZE, gpa))
			return near - i * X86_PAGE_SIZE;
		if (guest_is_at(g, near + i * X86_PAGE_SIZE, gpa))
			return near + i * X86_PAGE_SIZE;
	}
	return guest_mapped_at(g, gpa);
}

/* Set the name of a difference. Only the kernel's variables, slab objects and per-CPU memory have names. */
static void name_memory(const struct guest *g, const struct replay_rendezvous *rendezvous, struct replay_difference *d)
{
	struct guest_page_state page;
	struct guest_memory m = {0};
	char path[DATUM_TEXT_MAX];

	guest_page_state(g, d->gpa, &page);
	guest_memory_at(g, &rendezvous->regs[0], &page, d->gva, d->len, &m);
	if (datum_memory_path(&m, path))
		snprintf(d->name, sizeof(d->name), "%.*s", REPLAY_NAME_MAX - 1, path);
}

static void name_one(const struct guest *g, const struct replay_rendezvous *rendezvous, struct replay_difference *d)
{
	unsigned side;
	uint64_t gva = on_stack(g, rendezvous, d->gpa, &side);

	if (gva) {
		d->gva = gva;
		snprintf(d->name, sizeof(d->name), "stack of %.*s", (int)sizeof(rendezvous->comm[side]),
			 rendezvous->comm[side]);
		return;
	}
	d->gva = find_gva(g, rendezvous, d->gpa);
	if (d->gva)
		name_memory(g, rendezvous, d);
}

void replay_names_give(const struct guest *g, const struct replay_rendezvous *rendezvous, struct replay_instance *instance)
{
	for (uint32_t i = 0; i < instance->kept; i++) {
		if (!instance->differences[i].is_register && !instance->differences[i].name[0])
			name_one(g, rendezvous, &instance->differences[i]);
	}
	replay_clean(instance);
}

void replay_names_give_sections(const struct guest *g, const struct replay_rendezvous *rendezvous,
				struct section_replay_instance *instance)
{
	for (uint32_t i = 0; i < instance->kept; i++) {
		if (!instance->differences[i].serial.is_register)
			name_one(g, rendezvous, &instance->differences[i].serial);
	}
	section_replay_clean(instance);
}
