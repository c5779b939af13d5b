// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes two sorted lists of the sides of races at which a vCPU made the access: by function, and by run and address. */
#include "pruner/patterns/related.h"

#include <stdlib.h>
#include <string.h>

struct related_side {
	const struct race *race;
	const struct race_side *side;
	unsigned which;
};

struct related {
	size_t count;
	struct related_side *by_function, *by_address;
};

static int order_functions(const struct race_side *a, const struct race_side *b)
{
	int order = strcmp(a->symbol.name, b->symbol.name);

	return order ? order : strcmp(a->symbol.module, b->symbol.module);
}

static int by_function(const void *left, const void *right)
{
	const struct related_side *a = left, *b = right;

	return order_functions(a->side, b->side);
}

static unsigned run_of(const struct race *race)
{
	return race->kept ? race->instances[0].run : 0;
}

static int order_addresses(unsigned a_run, uint64_t a, unsigned b_run, uint64_t b)
{
	if (a_run != b_run)
		return a_run < b_run ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int by_address(const void *left, const void *right)
{
	const struct related_side *a = left, *b = right;

	return order_addresses(run_of(a->race), a->side->gva, run_of(b->race), b->side->gva);
}

struct related *related_new(struct race *const *races, size_t count)
{
	struct related *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->by_function = calloc(2 * count + 1, sizeof(*c->by_function));
	c->by_address = calloc(2 * count + 1, sizeof(*c->by_address));
	if (!c->by_function || !c->by_address) {
		related_free(c);
		return NULL;
	}
	for (size_t i = 0; i < 2 * count; i++) {
		const struct race *race = races[i / 2];
		const struct race_side *side = &race->first.sides[i % 2];

		if (side->kind == RACE_SIDE_CPU)
			c->by_function[c->count++] = (struct related_side){.race = race, .side = side, .which = i % 2};
	}
	memcpy(c->by_address, c->by_function, c->count * sizeof(*c->by_address));
	qsort(c->by_function, c->count, sizeof(*c->by_function), by_function);
	qsort(c->by_address, c->count, sizeof(*c->by_address), by_address);
	return c;
}

void related_free(struct related *c)
{
	if (!c)
		return;
	free(c->by_function);
	free(c->by_address);
	free(c);
}

void related_of_function(const struct related *c, const struct race_side *side,
			 void (*each)(void *ctx, const struct race *race, unsigned which), void *ctx)
{
	size_t from = 0, to = c ? c->count : 0;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (order_functions(c->by_function[middle].side, side) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	for (; c && from < c->count && order_functions(c->by_function[from].side, side) == 0; from++)
		each(ctx, c->by_function[from].race, c->by_function[from].which);
}

void related_at(const struct related *c, const struct race *race, uint64_t gva,
		void (*each)(void *ctx, const struct race *other), void *ctx)
{
	size_t from = 0, to = c ? c->count : 0;
	unsigned run = run_of(race);

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct related_side *m = &c->by_address[middle];

		if (order_addresses(run_of(m->race), m->side->gva, run, gva) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	for (; c && from < c->count; from++) {
		const struct related_side *m = &c->by_address[from];

		if (order_addresses(run_of(m->race), m->side->gva, run, gva) != 0)
			return;
		if (m->race != race)
			each(ctx, m->race);
	}
}
