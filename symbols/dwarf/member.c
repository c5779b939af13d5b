/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the path to a member, through structures, unions (DWARF 5 section 5.7.6) and arrays, and writes the path of a datum:
 * "variable.member", "pointer->member", "*pointer" or "pointer[3].member".
 */
#include "symbols/dwarf/member.h"

#include <stdio.h>
#include <string.h>

#include "symbols/dwarf/die.h"
#include "symbols/dwarf/query.h"
#include "symbols/dwarf/type.h"
#include "symbols/dwarf/unit.h"

#define MAX_BIT_FIELDS 32 /* one access shares bytes with at most this many bit-fields */

/* A path through structures, unions and arrays, and its last element, the datum. */
struct path {
	char text[DEBUGINFO_PATH_MAX]; /* "i_sb", "lock.owner.tail", "[3].next" */
	size_t len;		       /* Bytes of `text`, without the NUL. */
	uint64_t type;		       /* Place of the datum's type. */
	uint64_t size;		       /* Size of the datum in bytes. 0: unknown. */
	uint64_t rest;		       /* Bytes from the start of the datum to the access. */
	unsigned bit_offset, bit_size; /* First bit and width, if the datum is a bit-field; otherwise 0. */
	bool several;		       /* The datum is several bit-fields together. */
	enum debuginfo_fit fit;
};

/* A member of a structure or union. */
struct member {
	const char *name; /* NULL: anonymous. */
	uint64_t type;	  /* Place of the member's type. */
	uint64_t offset;  /* Bytes from the start of the structure. */
	uint64_t size;	  /* Bytes; for a bit-field, all bytes it touches. 0: an array without a bound. */
	bool open;	  /* The member is an array without a bound. */
	uint64_t bits;	  /* Width of a bit-field. 0: not a bit-field. */
	uint64_t bit_at;  /* First bit of a bit-field, from the start of the structure. */
};

/* The search through the members of one structure or union. */
struct look {
	struct debuginfo *di;
	const struct path *from;	    /* Path to the structure. */
	uint64_t offset;		    /* Bytes from the start of the structure to the access. */
	uint64_t size;			    /* Bytes of the access. */
	unsigned depth;			    /* Nesting depth of the structure. */
	struct path best;		    /* Best path yet. */
	struct path open;		    /* Best path into an array without a bound; used only if no other member matches. */
	struct member bits[MAX_BIT_FIELDS]; /* Bit-fields that share bytes with the access. */
	unsigned n_bits;
};

/* Append to the path's text. Text that does not fit is truncated. */
static void add_text(struct path *p, const char *text)
{
	size_t len = strlen(text);

	if (len > sizeof(p->text) - 1 - p->len)
		len = sizeof(p->text) - 1 - p->len;
	memcpy(p->text + p->len, text, len);
	p->len += len;
	p->text[p->len] = '\0';
}

static void add_name(struct path *p, const char *name)
{
	if (p->len)
		add_text(p, ".");
	add_text(p, name);
}

static enum debuginfo_fit fit_of(uint64_t rest, uint64_t access, uint64_t size)
{
	if (!size || rest > size || access > size - rest)
		return DEBUGINFO_FIT_LOOSE;
	return !rest && access == size ? DEBUGINFO_FIT_EXACT : DEBUGINFO_FIT_INSIDE;
}

/*
 * Calculate the position of a bit-field. DW_AT_data_bit_offset counts from the start of the structure. DW_AT_bit_offset, of
 * DWARF before version 5, counts from the most significant bit of the storage unit at the member's offset.
 */
static void place_bits(struct di_unit *u, Dwarf_Die die, struct member *m)
{
	uint64_t offset, storage = m->size;

	if (di_number(u, die, DW_AT_data_bit_offset, &offset)) {
		m->bit_at = offset;
	} else if (di_number(u, die, DW_AT_bit_offset, &offset)) {
		di_number(u, die, DW_AT_byte_size, &storage);
		m->bit_at = (m->offset + storage) * 8 - offset - m->bits;
	} else {
		m->bit_at = m->offset * 8;
	}
	m->offset = m->bit_at / 8;
	m->size = (m->bit_at % 8 + m->bits + 7) / 8;
}

/*
 * Read a member's DIE. An offset that is a DWARF expression, which C compilers do not write, reads as 0. Returns 0, or -1 with
 * the error set.
 */
static int read_member(struct di_unit *u, Dwarf_Die die, struct member *m)
{
	struct di_type type;

	*m = (struct member){.name = di_string(u, die, DW_AT_name)};
	di_reference(u, die, DW_AT_type, &m->type);
	di_number(u, die, DW_AT_data_member_location, &m->offset);
	di_number(u, die, DW_AT_bit_size, &m->bits);
	if (di_type(u->di, m->type, &type))
		return -1;
	m->size = type.size;
	m->open = !type.size && type.tag == DW_TAG_array_type;
	if (m->bits)
		place_bits(u, die, m);
	return u->di->err->code == EXIT_OK ? 0 : -1;
}

static int descend(struct debuginfo *di, uint64_t where, uint64_t offset, uint64_t size, unsigned depth, struct path *p);

static int look_at_member(struct di_unit *u, Dwarf_Die child, Dwarf_Half tag, void *ctx)
{
	struct look *look = ctx;
	struct path inner;
	struct member m;

	if (tag != DW_TAG_member)
		return 0;
	if (read_member(u, child, &m))
		return -1;
	if (m.bits) {
		if (m.offset < look->offset + look->size && look->offset < m.offset + m.size && look->n_bits < MAX_BIT_FIELDS &&
		    m.name)
			look->bits[look->n_bits++] = m;
		return 0;
	}
	if (look->offset < m.offset || (!m.open && look->offset - m.offset >= m.size))
		return 0;
	inner = *look->from;
	if (m.name)
		add_name(&inner, m.name);
	if (descend(u->di, m.type, look->offset - m.offset, look->size, look->depth + 1, &inner))
		return -1;
	/* Of equal matches in a union, keep the member that was declared first. */
	if (!m.open && inner.fit > look->best.fit)
		look->best = inner;
	else if (m.open && inner.fit > look->open.fit)
		look->open = inner;
	return 0;
}

/* Name the bit-fields that share bytes with the access. */
static void name_bits(const struct look *look, struct path *p)
{
	const struct member *first = &look->bits[0];

	if (look->n_bits == 1) {
		add_name(p, first->name);
		p->type = first->type;
		p->size = first->size;
		p->rest = look->offset > first->offset ? look->offset - first->offset : 0;
		p->bit_offset = (unsigned)(first->bit_at - first->offset * 8);
		p->bit_size = (unsigned)first->bits;
		p->fit = DEBUGINFO_FIT_INSIDE;
		return;
	}
	add_name(p, "{");
	for (unsigned i = 0; i < look->n_bits; i++) {
		add_text(p, i ? "," : "");
		add_text(p, look->bits[i].name);
	}
	add_text(p, "}");
	p->several = true;
	p->fit = DEBUGINFO_FIT_INSIDE;
}

static int into_structure(struct debuginfo *di, const struct di_type *type, uint64_t offset, uint64_t size, unsigned depth,
			  struct path *p)
{
	struct path from = *p;
	struct look look = {.di = di, .from = &from, .offset = offset, .size = size, .depth = depth};
	struct di_unit *u;
	Dwarf_Die die;
	int status;

	if (di_die_at(di, type->where, &u, &die))
		return -1;
	status = di_children(u, die, look_at_member, &look);
	dwarf_dealloc_die(die);
	if (status < 0)
		return -1;
	/* An access that covers a whole structure is an access to the structure, not to its first member. */
	if (look.best.fit && (look.best.fit > DEBUGINFO_FIT_LOOSE || p->fit < DEBUGINFO_FIT_EXACT))
		*p = look.best;
	else if (look.n_bits)
		name_bits(&look, p);
	else if (look.open.fit > DEBUGINFO_FIT_LOOSE)
		*p = look.open;
	return 0;
}

/* Extend the path by the array element that the access touches, unless the access spans more than one element. */
static int into_array(struct debuginfo *di, const struct di_type *type, uint64_t offset, uint64_t size, unsigned depth,
		      struct path *p)
{
	struct di_dimensions dims;
	struct di_type element;
	uint64_t index, stride = 1;

	if (di_type(di, type->target, &element) || di_dimensions(di, type->where, &dims))
		return -1;
	if (!element.size || offset % element.size + size > element.size || !dims.n)
		return 0;
	index = offset / element.size;
	for (unsigned i = 1; i < dims.n; i++) {
		if (!dims.count[i] || __builtin_mul_overflow(stride, dims.count[i], &stride))
			return 0;
	}
	if (dims.count[0] && index / stride >= dims.count[0])
		return 0;
	for (unsigned i = 0; i < dims.n; i++) {
		char text[32];

		snprintf(text, sizeof(text), "[%lu]", (unsigned long)(index / stride));
		add_text(p, text);
		index %= stride;
		stride /= i + 1 < dims.n ? dims.count[i + 1] : 1;
	}
	return descend(di, type->target, offset % element.size, size, depth + 1, p);
}

/*
 * Descend from the type at the place `where` to the member at byte `offset` that an access of `size` bytes touches, and append
 * the path to `p`. `depth` counts the enclosing types that the search has passed. If no member matches the access, `p` stays at
 * the type itself. Returns 0, or -1 with the error set.
 */
static int descend(struct debuginfo *di, uint64_t where, uint64_t offset, uint64_t size, unsigned depth, struct path *p)
{
	struct di_type type;

	if (depth > DI_MAX_DEPTH)
		return err_set(di->err, EXIT_INPUT, "%s: a type that contains itself: corrupt", di->file.path);
	if (di_type(di, where, &type))
		return -1;
	p->type = where;
	p->size = type.size;
	p->rest = offset;
	p->bit_offset = p->bit_size = 0;
	p->fit = fit_of(offset, size, type.size);
	switch (type.tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return into_structure(di, &type, offset, size, depth, p);
	case DW_TAG_array_type:
		return into_array(di, &type, offset, size, depth, p);
	default:
		return 0;
	}
}

/* Join the object's name and the path inside the object. */
static void name_path(const struct di_pointee *to, const struct path *below, struct debuginfo_datum *out)
{
	const char *text = to->text ? to->text : to->variable;
	bool bracket = below->text[0] == '[', star = to->by_pointer && !to->index && (bracket || !below->len);
	/* In C, the prefix operator * binds weaker than the postfix operators that follow, so put "*pointer" in parentheses. */
	bool wrap = (star && bracket) || (text[0] == '*' && (below->len || to->index));
	struct path whole = {0};
	char index[32];

	add_text(&whole, wrap ? "(" : "");
	add_text(&whole, star ? "*" : "");
	add_text(&whole, text);
	add_text(&whole, wrap ? ")" : "");
	if (to->index) {
		snprintf(index, sizeof(index), "[%lu]", (unsigned long)to->index);
		add_text(&whole, index);
	}
	if (below->len && !bracket)
		add_text(&whole, to->by_pointer && !to->index ? "->" : ".");
	add_text(&whole, below->text);
	memcpy(out->path, whole.text, sizeof(out->path));
	memcpy(out->member, below->text, sizeof(out->member));
}

int di_fill_datum(struct debuginfo *di, const struct di_pointee *to, uint64_t size, struct debuginfo_datum *out)
{
	struct path below = {0};
	struct di_type owner;

	if (di_type(di, to->type, &owner) || descend(di, to->type, to->offset, size, 0, &below))
		return -1;
	*out = (struct debuginfo_datum){
		.variable = to->variable,
		.function = to->function,
		.offset = to->offset,
		.size = below.size,
		.rest = below.rest,
		.owner_id = owner.where,
		.owner_size = owner.size,
		.bit_offset = below.bit_offset,
		.bit_size = below.bit_size,
		.type_id = below.several ? 0 : below.type,
		.fit = below.fit,
	};
	name_path(to, &below, out);
	di_type_name(di, to->type, out->owner, sizeof(out->owner));
	di_type_name(di, below.type, out->type, sizeof(out->type));
	return di->err->code == EXIT_OK ? 0 : -1;
}

/*
 * Find the member at byte `offset` of `type` that an access of `size` bytes touches. Returns 1 with `out` filled in, 0 if the
 * offset is outside the type, or -1 with the error set.
 */
static int find_member(struct debuginfo *di, uint64_t type, uint64_t offset, uint64_t size, struct debuginfo_datum *out)
{
	struct di_pointee to = {.variable = "", .type = type, .offset = offset};
	struct di_type owner;

	if (di_index(di) || di_type(di, type, &owner))
		return -1;
	if (offset >= owner.size)
		return 0;
	if (di_fill_datum(di, &to, size, out))
		return -1;
	out->variable = NULL;
	out->path[0] = '\0';
	return 1;
}

int debuginfo_member(struct debuginfo *di, uint64_t owner_id, uint64_t offset, size_t size, struct debuginfo_datum *out,
		     struct err *err)
{
	struct di_query query;

	di_begin(di, &query, err);
	*out = (struct debuginfo_datum){0};
	return di_end(di, &query, owner_id ? find_member(di, owner_id, offset, size ? size : 1, out) : 0);
}
