/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of a parsed BTF blob, one per type (Documentation/bpf/btf.rst). Private to symbols/btf. */
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

/* Common header of every type's record. */
struct btf_type {
	uint32_t name;	       /* offset into the strings; 0 if the type has no name */
	uint32_t info;	       /* bit fields: see btf_kind(), btf_vlen() and btf_kind_flag() */
	uint32_t size_or_type; /* size in bytes, or id of the type that this type refers to, depending on the kind */
};

/* One member of a struct or union. */
struct btf_field {
	uint32_t name;	 /* offset into the strings; 0 if the member is anonymous */
	uint32_t type;	 /* type id */
	uint32_t offset; /* see btf_field_bit() and btf_field_bits() */
};

struct btf_array {
	uint32_t type;	     /* id of the elements' type */
	uint32_t index_type; /* type id */
	uint32_t count;	     /* number of elements; 0 for an array without a bound */
};

struct btf {
	uint8_t *blob;	      /* the whole BTF; `types` and `strings` point into it */
	const uint8_t *types; /* types_len bytes of records */
	const char *strings;  /* strings_len bytes; the last is a NUL */
	uint32_t types_len, strings_len;
	uint32_t *offsets; /* indexed by type id: the offset of the type's record in `types`; id 0 is void and has no record */
	uint32_t count;	   /* number of type ids, including 0 */
	/*
	 * Open-addressing hash table of the ids of named structs, unions and typedefs, built by btf/names.c. 0 marks an empty
	 * slot. The size is a power of two.
	 */
	uint32_t *by_name;
	uint32_t by_name_size;
};

/* Copy a type's record to *out. Returns false for void and for an invalid id. */
bool btf_type_get(const struct btf *btf, uint32_t id, struct btf_type *out);

/*
 * Copy element `index`, of `size` bytes, of the array that follows a type's record. The caller makes sure that the record has
 * this element; parsing has checked that all elements are inside the blob.
 */
void btf_extra(const struct btf *btf, uint32_t id, uint32_t index, void *out, uint32_t size);

/* Returns the string at an offset, or "" if the offset is outside the strings. The string is valid as long as `btf`. */
const char *btf_string(const struct btf *btf, uint32_t offset);

/* Returns the id of the type under all typedefs and qualifiers, or 0 if these refer to each other in a circle. */
uint32_t btf_resolve(const struct btf *btf, uint32_t id);

/* Returns the size of a type in bytes. Returns 0 if the type has no size, or if the size is 4 GiB or more. */
uint64_t btf_type_size(const struct btf *btf, uint32_t id);

static inline enum btf_kind btf_kind(const struct btf_type *t)
{
	return (enum btf_kind)(t->info >> 24 & 0x1f);
}

/* Returns the number of elements that follow the record. */
static inline uint32_t btf_vlen(const struct btf_type *t)
{
	return t->info & 0xffff;
}

/* Returns the record's flag. For a struct or union: members may be bit-fields. For an enum: values are signed. */
static inline bool btf_kind_flag(const struct btf_type *t)
{
	return t->info >> 31;
}

/* Returns the offset in bits of a member from the beginning of its struct or union `t`. */
static inline uint32_t btf_field_bit(const struct btf_type *t, const struct btf_field *f)
{
	return btf_kind_flag(t) ? f->offset & 0xffffff : f->offset;
}

/* Returns the width in bits of a bit-field of struct or union `t`, or 0 for any other member. */
static inline uint32_t btf_field_bits(const struct btf_type *t, const struct btf_field *f)
{
	return btf_kind_flag(t) ? f->offset >> 24 : 0;
}

#endif
