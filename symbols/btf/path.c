// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the path of the member at an offset inside a type, through nested structs, unions and arrays. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbols/btf/btf.h"
#include "symbols/btf/names.h"
#include "symbols/btf/types.h"

#define MAX_NESTING 32	     /* levels of structs, unions and arrays; bounds hostile types */
#define MAX_STEPS (1u << 16) /* members visited in one search; bounds the cost of hostile types that nest without end */
#define MAX_BIT_FIELDS 32
#define MAX_TEXT 256 /* bytes of a path, including the NUL */

/* How well a member matches an access. Higher is better. */
enum fit {
	FIT_NONE,   /* no member */
	FIT_BEGINS, /* the access begins in the member and extends past its end */
	FIT_INSIDE, /* the access covers a part of the member */
	FIT_EXACT,  /* the access covers exactly the member */
};

/* A path to a member, under construction. */
struct path {
	char text[MAX_TEXT];
	size_t len;	/* length of text without the NUL */
	enum fit fit;	/* how well the member at the end of the path matches the access */
	bool anonymous; /* the member at the end of the path has no name: the path must continue to a member of it */
};

struct search {
	const struct btf *btf;
	uint32_t size;	/* of the access, in bytes */
	uint32_t steps; /* members visited */
};

struct member {
	const char *name;      /* "" for an anonymous member */
	uint32_t type;	       /* id */
	uint64_t offset, size; /* bytes; for a bit-field, all bytes that it touches */
	bool bits;	       /* the member is a bit-field */
	bool open;	       /* the member is an array without a bound */
};

/* The search through the members of one struct or union. */
struct look {
	const struct path *from;	  /* path to the struct or union */
	uint64_t offset;		  /* offset of the access inside this struct or union, in bytes */
	unsigned depth;			  /* number of enclosing types */
	struct path best;		  /* the best match yet; FIT_NONE before the first match */
	struct path open;		  /* a path into an array without a bound; used only if no other member matches */
	const char *bits[MAX_BIT_FIELDS]; /* names of the accessed bit-fields */
	unsigned n_bits;
};

static void append(struct path *p, const char *text)
{
	size_t len = strnlen(text, sizeof(p->text) - 1 - p->len);

	memcpy(p->text + p->len, text, len);
	p->len += len;
	p->text[p->len] = '\0';
}

static void append_name(struct path *p, const char *name)
{
	if (p->len)
		append(p, ".");
	append(p, name);
}

static enum fit fit_of(uint64_t rest, uint64_t access, uint64_t size)
{
	if (rest > size || access > size - rest)
		return FIT_BEGINS;
	return !rest && access == size ? FIT_EXACT : FIT_INSIDE;
}

static bool open_array(const struct btf *btf, uint32_t type)
{
	uint32_t id = btf_resolve(btf, type);
	struct btf_array array;
	struct btf_type t;

	if (!btf_type_get(btf, id, &t) || btf_kind(&t) != BTF_ARRAY)
		return false;
	btf_extra(btf, id, 0, &array, sizeof(array));
	return !array.count;
}

static void read_member(const struct btf *btf, uint32_t id, const struct btf_type *t, uint32_t index, struct member *m)
{
	uint32_t at, bits;
	struct btf_field f;

	btf_extra(btf, id, index, &f, sizeof(f));
	at = btf_field_bit(t, &f);
	bits = btf_field_bits(t, &f);
	*m = (struct member){.name = btf_string(btf, f.name), .type = f.type, .offset = at / 8, .bits = bits};
	m->size = bits ? (at % 8 + bits + 7) / 8 : btf_type_size(btf, f.type);
	m->open = !m->size && open_array(btf, f.type);
}

static void descend(struct search *s, uint32_t type, uint64_t offset, unsigned depth, struct path *p);

static void look_at(struct search *s, const struct member *m, struct look *look)
{
	struct path inner;

	if (m->bits) {
		if (m->offset < look->offset + s->size && look->offset < m->offset + m->size && look->n_bits < MAX_BIT_FIELDS &&
		    *m->name)
			look->bits[look->n_bits++] = m->name;
		return;
	}
	if (look->offset < m->offset || (!m->open && look->offset - m->offset >= m->size))
		return;
	inner = *look->from;
	inner.anonymous = !*m->name;
	if (*m->name)
		append_name(&inner, m->name);
	descend(s, m->type, look->offset - m->offset, look->depth + 1, &inner);
	if (!m->open && inner.fit > look->best.fit)
		look->best = inner;
	else if (m->open && inner.fit > look->open.fit)
		look->open = inner;
}

static void name_bits(const struct look *look, struct path *p)
{
	p->fit = FIT_INSIDE;
	if (look->n_bits == 1) {
		append_name(p, look->bits[0]);
		return;
	}
	append_name(p, "{");
	for (unsigned i = 0; i < look->n_bits; i++) {
		append(p, i ? "," : "");
		append(p, look->bits[i]);
	}
	append(p, "}");
}

static void into_structure(struct search *s, uint32_t id, const struct btf_type *t, uint64_t offset, unsigned depth,
			   struct path *p)
{
	const struct path from = *p;
	struct look look = {.from = &from, .offset = offset, .depth = depth};
	struct member m;
	bool part;

	for (uint32_t i = 0; i < btf_vlen(t) && ++s->steps < MAX_STEPS; i++) {
		read_member(s->btf, id, t, i, &m);
		look_at(s, &m, &look);
	}
	/* An access that covers a named struct is an access to the struct, not to its first member. */
	part = p->fit < FIT_EXACT || p->anonymous;
	if (look.best.fit > FIT_BEGINS || (look.best.fit && part))
		*p = look.best;
	else if (look.n_bits && part)
		name_bits(&look, p);
	else if (look.open.fit > FIT_BEGINS)
		*p = look.open;
	else if (p->anonymous)
		p->fit = FIT_NONE;
}

/* Extend the path by the array element that the access touches, unless the access spans more than one element. */
static void into_array(struct search *s, uint32_t id, uint64_t offset, unsigned depth, struct path *p)
{
	struct btf_array array;
	uint64_t element;
	char text[32];

	btf_extra(s->btf, id, 0, &array, sizeof(array));
	element = btf_type_size(s->btf, array.type);
	if (!element || offset % element + s->size > element || (array.count && offset / element >= array.count))
		return;
	snprintf(text, sizeof(text), "[%" PRIu64 "]", offset / element);
	append(p, text);
	descend(s, array.type, offset % element, depth + 1, p);
}

static void descend(struct search *s, uint32_t type, uint64_t offset, unsigned depth, struct path *p)
{
	uint32_t id = btf_resolve(s->btf, type);
	struct btf_type t;

	p->fit = fit_of(offset, s->size, btf_type_size(s->btf, id));
	if (depth > MAX_NESTING || !btf_type_get(s->btf, id, &t))
		return;
	if (btf_kind(&t) == BTF_STRUCT || btf_kind(&t) == BTF_UNION)
		into_structure(s, id, &t, offset, depth, p);
	else if (btf_kind(&t) == BTF_ARRAY)
		into_array(s, id, offset, depth, p);
}

static int path_in(const struct btf *btf, uint32_t id, uint32_t offset, uint32_t size, char *out, size_t max)
{
	struct search s = {.btf = btf, .size = size};
	struct path p = {0};

	if (offset >= btf_type_size(btf, id))
		return -1;
	descend(&s, id, offset, 0, &p);
	snprintf(out, max, "%s", p.text);
	return 0;
}

int btf_path_at(const struct btf *btf, const char *type, uint32_t offset, uint32_t size, char *out, size_t max)
{
	uint32_t id = btf_find_type(btf, type);

	return id ? path_in(btf, id, offset, size, out, max) : -1;
}

int btf_variable_at(const struct btf *btf, const char *variable, uint32_t offset, uint32_t size, char *type, size_t type_max,
		    char *out, size_t max)
{
	struct btf_type t, of;

	for (uint32_t id = 1; btf_type_get(btf, id, &t); id++) {
		if (btf_kind(&t) != BTF_VAR || strcmp(btf_string(btf, t.name), variable) != 0)
			continue;
		snprintf(type, type_max, "%s",
			 btf_type_get(btf, btf_resolve(btf, t.size_or_type), &of) ? btf_string(btf, of.name) : "");
		return path_in(btf, t.size_or_type, offset, size, out, max);
	}
	return -1;
}
