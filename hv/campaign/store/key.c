// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/store/key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hv/race/site.h"
#include "symbols/insn/insn.h"

/* ---- sides ---- */

/* Returns the name for code without a symbol. The name has no address, because the address changes with each boot. */
static const char *nameless(const char *site)
{
	if (strncmp(site, "stop:", 5) == 0)
		site += 5;
	return strncmp(site, "raw+", 4) == 0 ? "raw" : site;
}

/*
 * Returns the side's function without the suffixes that compilers append (".isra.0", ".constprop.1", ".part.0", ".cold"),
 * because they change with the build. A C function has no dot in its name.
 */
static const char *function_of(const struct race *race, unsigned which, struct store_text *text)
{
	const struct race_side *side = &race->first.sides[which];
	const char *name = side->symbol.name;

	if (side->kind != RACE_SIDE_CPU || !name[0])
		return text_copy(text, nameless(race->site[which]));
	return text_printf(text, "%.*s", (int)(1 + strcspn(name + 1, ".")), name);
}

/*
 * Returns the kind of an access. A read-modify-write is a write here: the compiler chooses whether x++ is one instruction or
 * three.
 */
static const char *kind_of(uint8_t rw)
{
	return rw & INSN_WRITE ? "write" : rw & INSN_READ ? "read" : "access";
}

/*
 * Returns the source file of the outermost function, which is that of the last line. The lines before the last are of inlined
 * functions.
 */
static const char *file_of(const struct race *race, unsigned which, struct store_text *text)
{
	size_t n;
	const struct source_line *lines = race_names_lines(race->names, which, 0, &n);

	return n ? text_copy(text, lines[n - 1].file) : "";
}

static struct store_side side_of(const struct race *race, unsigned which, struct store_text *text)
{
	const struct race_side *side = &race->first.sides[which];

	return (struct store_side){
		.function = function_of(race, which, text),
		.module = side->kind == RACE_SIDE_CPU ? text_copy(text, side->symbol.module) : "",
		.kind = kind_of(race->rw[which]),
		.file = file_of(race, which, text),
	};
}

static int compare(const struct store_side *a, const struct store_side *b)
{
	int order = strcmp(a->function, b->function);

	if (!order)
		order = strcmp(a->module, b->module);
	return order ? order : strcmp(a->kind, b->kind);
}

/* ---- the datum ---- */

/*
 * Returns the datum's name: a variable by its name, a member of an allocated object by type and member. Returns "" for an
 * anonymous type or a guessed name, since they can differ in the next build.
 */
static const char *datum_of(const struct race *race, struct store_text *text)
{
	const struct datum_name *d = race->names ? &race->names->datum[race->names->best] : NULL;
	const char *owner;

	if (!d || d->by == DATUM_UNNAMED || d->guess)
		return "";
	owner = d->by == DATUM_BY_VARIABLE ? d->variable : datum_unqualified(d->owner);
	if (!owner[0] || strchr(owner, '{'))
		return "";
	return text_printf(text, "%s%s%s", owner, d->member[0] ? "." : "", d->member);
}

static const char *place_of(const struct race *race, struct store_text *text)
{
	const struct guest_memory *m = &race->first.memory;

	/* Use the offset of a per-CPU variable, which is the same on every CPU. */
	if (m->symbol.name[0])
		return text_printf(text, "%s%s%s+%" PRIu32, m->symbol.module, m->symbol.module[0] ? ":" : "", m->symbol.name,
				   m->offset);
	if (m->type[0] && m->member[0])
		return text_printf(text, "struct %s.%s", m->type, m->member);
	return "";
}

void race_key_seal(struct race_key *key, struct store_text *text)
{
	const struct store_side *a = &key->sides[0], *b = &key->sides[1];

	key->sides_text = text_printf(text, "%s %s [%s] <-> %s %s [%s]", a->kind, a->function, a->module, b->kind, b->function,
				      b->module);
	key->identity = text_printf(text, "%s on %s", key->sides_text,
				    key->datum[0]   ? key->datum
				    : key->place[0] ? text_printf(text, "at %s", key->place)
						    : "?");
	race_id("campaign", key->identity, key->name);
}

void race_key(const struct race *race, struct store_text *text, struct race_key *out)
{
	struct store_side a = side_of(race, 0, text), b = side_of(race, 1, text);
	bool swap = compare(&a, &b) > 0;

	*out = (struct race_key){
		.sides = {swap ? b : a, swap ? a : b}, .datum = datum_of(race, text), .place = place_of(race, text)};
	race_key_seal(out, text);
}
