/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks up a member by its path, and an enumerator by its name. */
#include <stdlib.h>
#include <string.h>

#include "symbols/btf/btf.h"
#include "symbols/btf/names.h"
#include "symbols/btf/types.h"

#define MAX_NESTING 32	     /* levels of anonymous structs and unions; bounds hostile types */
#define MAX_PATH 256	     /* bytes of a path, including the NUL */
#define MAX_STEPS (1u << 16) /* members visited in one search; bounds the cost of hostile types that nest without end */
#define MAX_OFFSET INT32_MAX /* bytes; the kernel has no larger object, so a larger offset is invalid */

/* A place inside a type. */
struct place {
	uint32_t type;	 /* id of the type at this place */
	uint64_t offset; /* bytes */
	uint32_t bits;	 /* width of a bit-field in bits; 0 if the place is no bit-field */
	uint32_t shift;	 /* index of a bit-field's lowest bit in the byte at `offset` */
};

static bool composite(enum btf_kind kind)
{
	return kind == BTF_STRUCT || kind == BTF_UNION;
}

static void enter_field(struct place *at, const struct btf_type *t, const struct btf_field *f)
{
	uint32_t bit = btf_field_bit(t, f);

	at->type = f->type;
	at->offset += bit / 8;
	at->shift = bit % 8;
	at->bits = btf_field_bits(t, f);
}

/*
 * Move *at to member `name` of the struct or union at *at, or of an anonymous struct or union inside it. *steps counts the
 * members visited.
 */
static bool find_field(const struct btf *btf, struct place *at, const char *name, unsigned depth, uint32_t *steps)
{
	uint32_t id = btf_resolve(btf, at->type);
	struct btf_type t;

	if (depth > MAX_NESTING || !btf_type_get(btf, id, &t) || !composite(btf_kind(&t)))
		return false;
	for (uint32_t i = 0; i < btf_vlen(&t); i++) {
		struct place inside = *at;
		struct btf_field f;
		const char *field;

		if (++*steps > MAX_STEPS)
			return false;
		btf_extra(btf, id, i, &f, sizeof(f));
		field = btf_string(btf, f.name);
		enter_field(&inside, &t, &f);
		if (!strcmp(field, name) || (!*field && find_field(btf, &inside, name, depth + 1, steps))) {
			*at = inside;
			return true;
		}
	}
	return false;
}

/* Convert an array index: a decimal number or the name of an enumerator. */
static bool parse_index(const struct btf *btf, const char *text, uint64_t *index)
{
	int64_t value;
	char *end;

	if (text[0] >= '0' && text[0] <= '9') {
		*index = strtoull(text, &end, 10);
		return !*end;
	}
	if (btf_enumerator(btf, text, &value) || value < 0)
		return false;
	*index = (uint64_t)value;
	return true;
}

static bool enter_element(const struct btf *btf, struct place *at, const char *text)
{
	uint32_t id = btf_resolve(btf, at->type);
	struct btf_array array;
	struct btf_type t;
	uint64_t index;

	if (!btf_type_get(btf, id, &t) || btf_kind(&t) != BTF_ARRAY || !parse_index(btf, text, &index))
		return false;
	btf_extra(btf, id, 0, &array, sizeof(array));
	if (index >= array.count)
		return false;
	at->type = array.type;
	at->offset += index * btf_type_size(btf, array.type);
	return at->offset <= MAX_OFFSET;
}

/* Split one step, "name" or "[index]", off the path. Returns false on a syntax error. */
static bool next_step(char **path, char **step, bool *element)
{
	char *p = *path;

	*element = *p == '[';
	if (*element) {
		*step = p + 1;
		p = strchr(p, ']');
		if (!p)
			return false;
		*p++ = '\0';
	} else {
		if (*p == '.')
			p++;
		*step = p;
		p += strcspn(p, ".[");
	}
	*path = p;
	return true;
}

static bool walk_path(const struct btf *btf, struct place *at, char *path)
{
	while (*path) {
		char *step, name[MAX_PATH];
		uint32_t steps = 0;
		bool element;

		if (!next_step(&path, &step, &element))
			return false;
		if (element) {
			if (!enter_element(btf, at, step))
				return false;
			continue;
		}
		memcpy(name, step, (size_t)(path - step));
		name[path - step] = '\0';
		if (!*name || !find_field(btf, at, name, 0, &steps))
			return false;
	}
	return true;
}

int btf_member(const struct btf *btf, const char *type, const char *path, struct btf_member *out)
{
	struct place at = {.type = btf_find_type(btf, type)};
	char copy[MAX_PATH];
	size_t len = strlen(path);
	uint64_t size;

	if (!at.type || !len || len >= sizeof(copy))
		return -1;
	memcpy(copy, path, len + 1);
	if (!walk_path(btf, &at, copy))
		return -1;
	size = at.bits ? (at.shift + at.bits + 7) / 8 : btf_type_size(btf, at.type);
	if (at.offset > MAX_OFFSET || size > MAX_OFFSET)
		return -1;
	*out = (struct btf_member){
		.offset = (uint32_t)at.offset, .size = (uint32_t)size, .bits = (uint8_t)at.bits, .shift = (uint8_t)at.shift};
	return 0;
}

uint32_t btf_sizeof(const struct btf *btf, const char *type)
{
	uint32_t id = btf_find_type(btf, type);

	return id ? (uint32_t)btf_type_size(btf, id) : 0;
}

static int enum_value(const struct btf *btf, uint32_t id, const struct btf_type *t, const char *name, int64_t *value)
{
	bool wide = btf_kind(t) == BTF_ENUM64;

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		uint32_t e[3] = {0}; /* name, value, high half of an enum64 */

		btf_extra(btf, id, i, e, wide ? 12 : 8);
		if (strcmp(btf_string(btf, e[0]), name))
			continue;
		if (wide)
			*value = (int64_t)((uint64_t)e[2] << 32 | e[1]);
		else
			*value = btf_kind_flag(t) ? (int32_t)e[1] : (int64_t)e[1];
		return 0;
	}
	return -1;
}

int btf_enumerator(const struct btf *btf, const char *name, int64_t *value)
{
	struct btf_type t;

	for (uint32_t id = 1; btf_type_get(btf, id, &t); id++) {
		if ((btf_kind(&t) == BTF_ENUM || btf_kind(&t) == BTF_ENUM64) && !enum_value(btf, id, &t, name, value))
			return 0;
	}
	return -1;
}
