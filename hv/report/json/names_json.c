// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/json/names_json.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MAX_NUMBER 100000000
#define BITS_MAX 4096

static const char *const by_words[] = {[DATUM_BY_VARIABLE] = "variable", [DATUM_BY_REGISTER] = "register"};

static json_t *line_json(struct json_builder *b, const struct source_line *line)
{
	json_t *o = json_object();

	put(b, o, "function", json_clean(line->function, sizeof(line->function)));
	put(b, o, "file", json_clean(line->file, sizeof(line->file)));
	put(b, o, "line", line->line ? json_integer(line->line) : json_null());
	put(b, o, "column", line->column ? json_integer(line->column) : json_null());
	put(b, o, "inlined", json_boolean(line->inlined));
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
		add(b, list, line_json(b, &lines[i]));
	return list;
}

json_t *names_datum_json(struct json_builder *b, const struct race_names *names, unsigned side)
{
	const struct datum_name *d = names ? &names->datum[side] : NULL;
	json_t *o;

	if (!d || d->by == DATUM_UNNAMED)
		return json_null();
	o = json_object();
	put(b, o, "path", json_clean(d->path, sizeof(d->path)));
	put(b, o, "by", json_string(by_words[d->by]));
	put(b, o, "guess", json_boolean(d->guess));
	put(b, o, "variable", json_clean(d->variable, sizeof(d->variable)));
	put(b, o, "owner", json_clean(d->owner, sizeof(d->owner)));
	put(b, o, "member", json_clean(d->member, sizeof(d->member)));
	put(b, o, "type", json_clean(d->type, sizeof(d->type)));
	put(b, o, "offset", json_integer((json_int_t)d->offset));
	put(b, o, "bit_offset", d->bit_size ? json_integer(d->bit_offset) : json_null());
	put(b, o, "bit_size", d->bit_size ? json_integer(d->bit_size) : json_null());
	put(b, o, "value_before", json_clean(d->before, sizeof(d->before)));
	put(b, o, "value_after", json_clean(d->after, sizeof(d->after)));
	return o;
}

static bool have_names(struct json_reader *r, struct race_names **names)
{
	if (!*names)
		*names = calloc(1, sizeof(**names));
	return *names || read_wrong(r, "source", "small enough for the memory there is");
}

void names_source_read(struct json_reader *r, const json_t *object, unsigned side, unsigned frame, struct race_names **names)
{
	const json_t *list = read_optional(object, "source") ? read_array(r, object, "source", DEBUGINFO_MAX_FRAMES) : NULL;

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
		line->inlined = read_bool(r, o, "inlined");
		read_text(r, o, "function", line->function, sizeof(line->function));
		read_text(r, o, "file", line->file, sizeof(line->file));
		if (read_optional(o, "line"))
			line->line = (unsigned)read_number(r, o, "line", LINE_MAX_NUMBER);
		if (read_optional(o, "column"))
			line->column = (unsigned)read_number(r, o, "column", LINE_MAX_NUMBER);
	}
}

void names_datum_read(struct json_reader *r, const json_t *object, unsigned side, struct race_names **names)
{
	const json_t *o = read_optional(object, "datum") ? read_object(r, object, "datum") : NULL;
	struct datum_name *d;
	const char *by;

	if (!o || !have_names(r, names))
		return;
	d = &(*names)->datum[side];
	by = read_string(r, o, "by");
	d->by = strcmp(by, by_words[DATUM_BY_REGISTER]) == 0 ? DATUM_BY_REGISTER : DATUM_BY_VARIABLE;
	if (strcmp(by, by_words[d->by]) != 0)
		read_wrong(r, "by", "a word known of");
	d->guess = read_bool(r, o, "guess");
	read_text(r, o, "path", d->path, sizeof(d->path));
	read_text(r, o, "variable", d->variable, sizeof(d->variable));
	read_text(r, o, "owner", d->owner, sizeof(d->owner));
	read_text(r, o, "member", d->member, sizeof(d->member));
	read_text(r, o, "type", d->type, sizeof(d->type));
	d->offset = read_number(r, o, "offset", INT64_MAX);
	if (read_optional(o, "bit_size")) {
		d->bit_offset = (unsigned)read_number(r, o, "bit_offset", BITS_MAX);
		d->bit_size = (unsigned)read_number(r, o, "bit_size", BITS_MAX);
	}
	read_text(r, o, "value_before", d->before, sizeof(d->before));
	read_text(r, o, "value_after", d->after, sizeof(d->after));
}
