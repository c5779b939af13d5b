// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the identity of a race, which stays the same in every build of the kernel. */
#include "hv/race/race_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hv/race/site.h"
#include "symbols/insn/insn.h"

#define SIDES_TEXT_MAX (2 * sizeof(struct race_key_side) + 64)
#define TEXT_MAX (SIDES_TEXT_MAX + RACE_KEY_DATUM_MAX + 16)

/* ---- sides ---- */

const char *race_key_nameless(const char *site)
{
	if (strncmp(site, "stop:", 5) == 0)
		site += 5;
	return strncmp(site, "raw+", 4) == 0 ? "raw" : site;
}

int race_key_function_len(const char *name)
{
	/* A C function has no dot in its name, so the first dot begins a compiler's suffix. Skip a dot that begins the name. */
	return name[0] ? (int)(1 + strcspn(name + 1, ".")) : 0;
}

static void put_function(const struct race *race, unsigned which, char out[SITE_NAME_MAX])
{
	const struct race_side *side = &race->first.sides[which];
	const char *name = side->symbol.name;

	if (side->kind != RACE_SIDE_CPU || !name[0])
		snprintf(out, SITE_NAME_MAX, "%s", race_key_nameless(race->site[which]));
	else
		snprintf(out, SITE_NAME_MAX, "%.*s", race_key_function_len(name), name);
}

/*
 * Returns the kind of an access. A read-modify-write is a write here: the compiler chooses whether x++ is one instruction or
 * three.
 */
static const char *kind_of(uint8_t rw)
{
	return rw & INSN_WRITE ? "write" : rw & INSN_READ ? "read" : "access";
}

static void put_side(const struct race *race, unsigned which, struct race_key_side *out)
{
	const struct race_side *side = &race->first.sides[which];

	*out = (struct race_key_side){.kind = kind_of(race->rw[which]), .side = which};
	put_function(race, which, out->function);
	if (side->kind == RACE_SIDE_CPU)
		snprintf(out->module, sizeof(out->module), "%s", side->symbol.module);
}

/*
 * Compare two sides, to sort them. Two accesses of one kind in one function have the same text in the key. Such sides are
 * sorted by their sites, so that their order does not depend on which side was held.
 */
static int compare(const struct race *race, const struct race_key_side *a, const struct race_key_side *b)
{
	int order = strcmp(a->function, b->function);

	if (!order)
		order = strcmp(a->module, b->module);
	if (!order)
		order = strcmp(a->kind, b->kind);
	return order ? order : strcmp(race->site[a->side], race->site[b->side]);
}

/* ---- the datum ---- */

/*
 * Write the datum's name: a variable by its name, a member of an allocated object by type and member. Writes nothing for an
 * anonymous type or a guessed name, since such names can differ in the next build.
 */
static void put_datum(const struct race *race, char out[RACE_KEY_DATUM_MAX])
{
	const struct datum_name *d = race->names ? &race->names->datum[race->names->best] : NULL;
	const char *owner;

	if (!d || d->by == DATUM_UNNAMED || d->guess)
		return;
	owner = d->by == DATUM_BY_VARIABLE ? d->variable : datum_unqualified(d->owner);
	if (owner[0] && !strchr(owner, '{'))
		snprintf(out, RACE_KEY_DATUM_MAX, "%s%s%s", owner, d->member[0] ? "." : "", d->member);
}

static void put_place(const struct race *race, char out[RACE_KEY_DATUM_MAX])
{
	const struct guest_memory *m = &race->first.memory;

	/*
	 * The address of a per-CPU variable differs between CPUs, so the offset counts from the variable's start in the CPU's
	 * own copy.
	 */
	if (m->symbol.name[0])
		snprintf(out, RACE_KEY_DATUM_MAX, "%s%s%s+%" PRIu32, m->symbol.module, m->symbol.module[0] ? ":" : "",
			 m->symbol.name, m->offset);
	else if (m->type[0] && m->member[0])
		snprintf(out, RACE_KEY_DATUM_MAX, "struct %s.%s", m->type, m->member);
}

/* ---- the whole ---- */

void race_key_identity(const char *text, char out[RACE_ID_MAX])
{
	race_id("campaign", text, out);
}

static void put_identity(const struct race_key *key, const char *before, const char *datum, char out[RACE_ID_MAX])
{
	const struct race_key_side *a = &key->sides[0], *b = &key->sides[1];
	char sides[SIDES_TEXT_MAX], text[TEXT_MAX];

	snprintf(sides, sizeof(sides), RACE_KEY_SIDES, a->kind, a->function, a->module, b->kind, b->function, b->module);
	snprintf(text, sizeof(text), RACE_KEY_TEXT, sides, before, datum);
	race_key_identity(text, out);
}

void race_key(const struct race *race, struct race_key *out)
{
	struct race_key_side side[2];
	bool swap;

	for (unsigned i = 0; i < 2; i++)
		put_side(race, i, &side[i]);
	swap = compare(race, &side[0], &side[1]) > 0;
	*out = (struct race_key){.sides = {side[swap], side[!swap]}};
	put_datum(race, out->datum);
	put_place(race, out->place);
	if (out->datum[0])
		put_identity(out, "", out->datum, out->identity);
	if (out->place[0])
		put_identity(out, "at ", out->place, out->datum[0] ? out->alias : out->identity);
	if (!out->identity[0])
		put_identity(out, "", "?", out->identity);
}
