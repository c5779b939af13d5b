// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts the names from debug files to JSON and back. */
#include "hv/report/json/names_json.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MAX_NUMBER UINT32_MAX
#define BITS_MAX 4096

static const char *const by_words[] = {[DATUM_BY_VARIABLE] = "variable", [DATUM_BY_REGISTER] = "register"};

static json_t *line_json(struct json_builder *b, const struct source_line *line)
{
	json_t *o = json_object();

	json_put(b, o, "function", json_clean(line->function, sizeof(line->function)));
	json_put(b, o, "file", json_clean(line->file, sizeof(line->file)));
	json_put(b, o, "line", line->line ? json_integer(line->line) : json_null());
	json_put(b, o, "column", line->column ? json_integer(line->column) : json_null());
	json_put(b, o, "inlined", json_boolean(line->inlined));
	return o;
}

json_t *names_source_json(struct json_builder *b, const struct race_names *names, unsigned side, unsigned frame)
{
	size_t n;
	const struct source_line *lines = race_names_lines(names, side, frame, &n);
	json_t *list;

	if (!lines)
		return json_null();
	list = json_array();
	for (size_t i = 0; i < n; i++)
		json_append(b, list, line_json(b, &lines[i]));
	return list;
}

json_t *names_datum_json(struct json_builder *b, const struct race_names *names, unsigned side)
{
	const struct datum_name *d = names ? &names->datum[side] : NULL;
	bool bits;
	json_t *o;

	if (!d || d->by == DATUM_UNNAMED)
		return json_null();
	/*
	 * Omit the bit field's place if names_datum_read() would reject it: debug files are untrusted, and can give any size
	 * and offset.
	 */
	bits = d->bit_size && d->bit_size <= BITS_MAX && d->bit_offset <= BITS_MAX;
	o = json_object();
	json_put(b, o, "path", json_clean(d->path, sizeof(d->path)));
	json_put(b, o, "by", json_string(by_words[d->by]));
	json_put(b, o, "guess", json_boolean(d->guess));
	json_put(b, o, "variable", json_clean(d->variable, sizeof(d->variable)));
	json_put(b, o, "owner", json_clean(d->owner, sizeof(d->owner)));
	json_put(b, o, "member", json_clean(d->member, sizeof(d->member)));
	json_put(b, o, "type", json_clean(d->type, sizeof(d->type)));
	json_put(b, o, "offset", json_whole(d->offset));
	json_put(b, o, "bit_offset", bits ? json_integer(d->bit_offset) : json_null());
	json_put(b, o, "bit_size", bits ? json_integer(d->bit_size) : json_null());
	json_put(b, o, "value_before", json_clean(d->before, sizeof(d->before)));
	json_put(b, o, "value_after", json_clean(d->after, sizeof(d->after)));
	return o;
}

static bool have_names(struct json_reader *r, struct race_names **names)
{
	if (!*names)
		*names = calloc(1, sizeof(**names));
	return *names || json_read_wrong(r, "source", "small enough for the memory there is");
}

void names_source_read(struct json_reader *r, const json_t *object, unsigned side, unsigned frame, struct race_names **names)
{
	const json_t *list =
		json_read_optional(object, "source") ? json_read_array(r, object, "source", DEBUGINFO_MAX_FRAMES) : NULL;

	if (!list || !have_names(r, names))
		return;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);
		struct source_line *line = race_names_add(*names, r->err);

		if (!line) {
			r->failed = true;
			return;
		}
		line->side = (uint8_t)side;
		line->frame = (uint8_t)frame;
		line->inlined = json_read_bool(r, o, "inlined");
		json_read_text(r, o, "function", line->function, sizeof(line->function));
		json_read_text(r, o, "file", line->file, sizeof(line->file));
		if (json_read_optional(o, "line"))
			line->line = (unsigned)json_read_number(r, o, "line", LINE_MAX_NUMBER);
		if (json_read_optional(o, "column"))
			line->column = (unsigned)json_read_number(r, o, "column", LINE_MAX_NUMBER);
	}
}

void names_datum_read(struct json_reader *r, const json_t *object, unsigned side, struct race_names **names)
{
	const json_t *o = json_read_optional(object, "datum") ? json_read_object(r, object, "datum") : NULL;
	struct datum_name *d;
	const char *by;

	if (!o || !have_names(r, names))
		return;
	d = &(*names)->datum[side];
	by = json_read_string(r, o, "by");
	d->by = strcmp(by, by_words[DATUM_BY_REGISTER]) == 0 ? DATUM_BY_REGISTER : DATUM_BY_VARIABLE;
	if (strcmp(by, by_words[d->by]) != 0)
		json_read_wrong(r, "by", "a known word");
	d->guess = json_read_bool(r, o, "guess");
	json_read_text(r, o, "path", d->path, sizeof(d->path));
	json_read_text(r, o, "variable", d->variable, sizeof(d->variable));
	json_read_text(r, o, "owner", d->owner, sizeof(d->owner));
	json_read_text(r, o, "member", d->member, sizeof(d->member));
	json_read_text(r, o, "type", d->type, sizeof(d->type));
	d->offset = json_read_number(r, o, "offset", INT64_MAX);
	if (json_read_optional(o, "bit_size")) {
		d->bit_offset = (unsigned)json_read_number(r, o, "bit_offset", BITS_MAX);
		d->bit_size = (unsigned)json_read_number(r, o, "bit_size", BITS_MAX);
	}
	json_read_text(r, o, "value_before", d->before, sizeof(d->before));
	json_read_text(r, o, "value_after", d->after, sizeof(d->after));
}
