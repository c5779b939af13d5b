/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BTF's own records, and the parsed blob. Private to symbols/. Layout: Documentation/bpf/btf.rst. */
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

struct btf_type {
	uint32_t name;
	uint32_t info;
	uint32_t size_or_type;
};

struct btf_field { /* of a struct or union */
	uint32_t name;
	uint32_t type;
	uint32_t offset; /* bits; with the type's kind flag, only the low 24, and above them the bit-field's size */
};

struct btf_array {
	uint32_t type;
	uint32_t index_type;
	uint32_t count;
};

struct btf {
	uint8_t *blob;
	const uint8_t *types;
	const char *strings; /* ends in a NUL */
	uint32_t types_len, strings_len;
	uint32_t *offsets; /* by type id, into types; id 0 is void and has none */
	uint32_t count;	   /* ids are below it */
	uint32_t *by_name; /* open addressing, 0: empty; ids of named structs, unions and typedefs */
	uint32_t by_name_size;
};

/* The record of an id; false for void and for ids that are none. */
bool btf_type_get(const struct btf *btf, uint32_t id, struct btf_type *out);

/* What follows a record, element `index` of `size` bytes. The caller keeps to the record's vlen, which was checked. */
void btf_extra(const struct btf *btf, uint32_t id, uint32_t index, void *out, uint32_t size);

/* A string, or "" for an offset that is none. */
const char *btf_string(const struct btf *btf, uint32_t offset);

/* Behind typedefs and qualifiers; 0 when they go in a circle. */
uint32_t btf_resolve(const struct btf *btf, uint32_t id);

/* sizeof(type id), or 0. */
uint64_t btf_type_size(const struct btf *btf, uint32_t id);

static inline enum btf_kind btf_kind(const struct btf_type *t)
{
	return (enum btf_kind)(t->info >> 24 & 0x1f);
}

static inline uint32_t btf_vlen(const struct btf_type *t)
{
	return t->info & 0xffff;
}

static inline bool btf_kind_flag(const struct btf_type *t)
{
	return t->info >> 31;
}

#endif
