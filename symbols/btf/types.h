/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of a parsed BTF blob, one for each type (Documentation/bpf/btf.rst). Private to symbols/btf. */
#ifndef OUTRIDER_SYMBOLS_BTF_TYPES_H
#define OUTRIDER_SYMBOLS_BTF_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum btf_kind {
	BTF_VOID,
	BTF_INT,
	BTF_PTR,
	BTF_ARRAY,
	BTF_STRUCT,
	BTF_UNION,
	BTF_ENUM,
	BTF_FWD,
	BTF_TYPEDEF,
	BTF_VOLATILE,
	BTF_CONST,
	BTF_RESTRICT,
	BTF_FUNC,
	BTF_FUNC_PROTO,
	BTF_VAR,
	BTF_DATASEC,
	BTF_FLOAT,
	BTF_DECL_TAG,
	BTF_TYPE_TAG,
	BTF_ENUM64,
	BTF_KINDS,
};

/* The record that every type begins with. */
struct btf_type {
	uint32_t name; /* offset into the strings; 0 for a type without a name */
	uint32_t info; /* btf_kind(), btf_vlen() and btf_kind_flag() */
	uint32_t
		size_or_type; /* the size in bytes, or the id of the type that this one refers to: which, depends on the kind */
};

/* One member of a struct or union. */
struct btf_field {
	uint32_t name;	 /* offset into the strings; 0 for an anonymous member */
	uint32_t type;	 /* id */
	uint32_t offset; /* btf_field_bit() and btf_field_bits() */
};

struct btf_array {
	uint32_t type;	     /* the id of the elements' type */
	uint32_t index_type; /* an id */
	uint32_t count;	     /* elements; 0 for an array without a bound */
};

struct btf {
	uint8_t *blob;	      /* the whole BTF; `types` and `strings` point into it */
	const uint8_t *types; /* types_len bytes of records */
	const char *strings;  /* strings_len bytes, of which the last is a NUL */
	uint32_t types_len, strings_len;
	uint32_t *offsets; /* by type id, the offset of the type's record in `types`; id 0 is void and has no record */
	uint32_t count;	   /* all type ids are below this */
	/*
	 * A hash table with open addressing of the ids of named structs, unions and typedefs. 0 marks an empty slot, and the
	 * size is a power of two. btf/names.c builds it.
	 */
	uint32_t *by_name;
	uint32_t by_name_size;
};

/* Copy the record of a type to *out. Returns false for void and for an id that no type has. */
bool btf_type_get(const struct btf *btf, uint32_t id, struct btf_type *out);

/*
 * Copy element `index`, of `size` bytes, of the array that follows a type's record. The caller makes sure that the record has
 * such an element: that all of them are inside the blob was checked when it was parsed.
 */
void btf_extra(const struct btf *btf, uint32_t id, uint32_t index, void *out, uint32_t size);

/* The string at an offset; "" for an offset that is outside the strings. It lives as long as `btf`. */
const char *btf_string(const struct btf *btf, uint32_t offset);

/* The id of the type behind typedefs and qualifiers; 0 when they go in a circle. */
uint32_t btf_resolve(const struct btf *btf, uint32_t id);

/* The size in bytes of a type; 0 when it has none, or is 4 GiB or larger. */
uint64_t btf_type_size(const struct btf *btf, uint32_t id);

static inline enum btf_kind btf_kind(const struct btf_type *t)
{
	return (enum btf_kind)(t->info >> 24 & 0x1f);
}

/* How many elements follow the record. */
static inline uint32_t btf_vlen(const struct btf_type *t)
{
	return t->info & 0xffff;
}

/* Of a struct or union: its members may be bit-fields. Of an enum: its values are signed. */
static inline bool btf_kind_flag(const struct btf_type *t)
{
	return t->info >> 31;
}

/* The first bit of a member, from the beginning of the struct or union `t` that it is in. */
static inline uint32_t btf_field_bit(const struct btf_type *t, const struct btf_field *f)
{
	return btf_kind_flag(t) ? f->offset & 0xffffff : f->offset;
}

/* The number of bits of a bit-field of struct or union `t`; 0 for a member that is none. */
static inline uint32_t btf_field_bits(const struct btf_type *t, const struct btf_field *f)
{
	return btf_kind_flag(t) ? f->offset >> 24 : 0;
}

#endif
