// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the values of shared memory after a trial and after the serial orders (ends.h). */
#include "hv/explore/ends.h"

#include <string.h>

/* Values from here on are small negative numbers and error codes, not addresses: the last page of the address space. */
#define NUMBERS UINT64_C(0xfffffffffffff000)

/*
 * Store in *out the GVA and the size of the bytes that both accesses of the candidate have in common, or of the first 8 of
 * them. Returns false if there are none, or if they cross a page.
 */
static bool overlap(const struct explore_candidate *c, struct ends_place *out)
{
	const struct explore_access *a = &c->side[0].access, *b = &c->side[1].access;
	uint64_t x = explore_place(a), y = explore_place(b), start = x > y ? x : y;
	uint64_t end = x + a->size < y + b->size ? x + a->size : y + b->size;

	*out = (struct ends_place){.gva = a->gva + (start - x), .size = end - start < 8 ? (unsigned)(end - start) : 8};
	return end > start && start % X86_PAGE_SIZE + out->size <= X86_PAGE_SIZE;
}

static int find(const struct ends *e, const struct ends_place *place)
{
	for (unsigned i = 0; i < e->count; i++)
		if (e->place[i].gva == place->gva && e->place[i].size == place->size)
			return (int)i;
	return -1;
}

/* Returns whether the values of the candidate's bytes are to be compared: ends_find() gives the reasons. */
static bool is_compared(const struct explore_candidate *c)
{
	return explore_reasons(c) == c->common_lock && !c->baseline;
}

void ends_find(struct ends *e, const struct explore_candidate *c, unsigned count, const struct kernel *kernel)
{
	struct ends_place place;

	memset(e, 0, sizeof(*e));
	for (unsigned i = 0; i < count && e->count < ENDS_MAX; i++)
		if (is_compared(&c[i]) && overlap(&c[i], &place) && find(e, &place) < 0 &&
		    guest_translate(kernel->guest, place.gva, &place.gpa) == 0)
			e->place[e->count++] = place;
}

int ends_place_of(const struct ends *e, const struct explore_candidate *c)
{
	struct ends_place place;

	return is_compared(c) && overlap(c, &place) ? find(e, &place) : -1;
}

void ends_read(const struct ends *e, const struct ram *ram, uint64_t *values)
{
	for (unsigned i = 0; i < e->count; i++) {
		const uint8_t *from = ram_at(ram, e->place[i].gpa, e->place[i].size);

		values[i] = 0;
		if (from)
			memcpy(&values[i], from, e->place[i].size);
		if (values[i] >= EXPLORE_SOME_ADDRESS && values[i] < NUMBERS)
			values[i] = EXPLORE_SOME_ADDRESS;
	}
}

void ends_add_serial(struct ends *e, unsigned order, const uint64_t *values)
{
	for (unsigned i = 0; i < e->count; i++) {
		if (e->runs[order] && e->serial[order][i] != values[i])
			e->unsettled[i] = true;
		e->serial[order][i] = values[i];
	}
	e->runs[order]++;
}

bool ends_differ(const struct ends *e, unsigned at, uint64_t value)
{
	return !e->unsettled[at] && value != e->serial[0][at] && value != e->serial[1][at];
}
