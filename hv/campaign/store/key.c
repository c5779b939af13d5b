// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts the key of a race, which is the same in every build of the kernel, to printable strings. */
#include "hv/campaign/store/key.h"

#include "hv/race/race_key.h"

/*
 * Returns the source file of one side of the race. A side can have several source lines: the last is of the function that was
 * compiled, and the lines before it are of functions inlined in it. The returned file is that of the last line.
 */
static const char *file_of(const struct race *race, unsigned which, struct store_text *text)
{
	size_t n;
	const struct source_line *lines = race_names_lines(race->names, which, 0, &n);

	return n ? text_copy(text, lines[n - 1].file) : "";
}

static struct store_side side_of(const struct race *race, const struct race_key_side *side, struct store_text *text)
{
	return (struct store_side){
		.function = text_copy(text, side->function),
		.module = text_copy(text, side->module),
		.kind = side->kind,
		.file = file_of(race, side->side, text),
	};
}

void store_key_seal(struct store_key *key, struct store_text *text)
{
	const struct store_side *a = &key->sides[0], *b = &key->sides[1];

	key->sides_text = text_printf(text, RACE_KEY_SIDES, a->kind, a->function, a->module, b->kind, b->function, b->module);
	key->identity = text_printf(text, RACE_KEY_TEXT, key->sides_text, !key->datum[0] && key->place[0] ? "at " : "",
				    key->datum[0]   ? key->datum
				    : key->place[0] ? key->place
						    : "?");
	race_key_identity(key->identity, key->name);
}

void store_key(const struct race *race, struct store_text *text, struct store_key *out)
{
	struct race_key key;

	race_key(race, &key);
	*out = (struct store_key){
		.sides = {side_of(race, &key.sides[0], text), side_of(race, &key.sides[1], text)},
		.datum = text_copy(text, key.datum),
		.place = text_copy(text, key.place),
	};
	store_key_seal(out, text);
}
