/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BTF blobs (Documentation/bpf/btf.rst) record by record. */
#ifndef OUTRIDER_TESTS_UNIT_TEST_SYM_BTF_MAKER_H
#define OUTRIDER_TESTS_UNIT_TEST_SYM_BTF_MAKER_H

#include "symbols/btf/btf.h"
#include "symbols/btf/types.h"
#include "tests/unit/symbols/blob.h"

#define KIND_FLAG 0x80000000u

struct btf_maker {
	struct blob types, strings;
	uint32_t count; /* ids handed out */
};

/* Append a record. The caller appends the data that follow a record of its kind. Returns its id. */
static inline uint32_t make_type(struct btf_maker *m, const char *name, uint32_t kind, uint32_t vlen, uint32_t size_or_type)
{
	if (!m->strings.len)
		blob_u8(&m->strings, 0);
	blob_u32(&m->types, *name ? (uint32_t)blob_string(&m->strings, name) : 0);
	blob_u32(&m->types, (kind & KIND_FLAG) | (kind & 0x1f) << 24 | vlen);
	blob_u32(&m->types, size_or_type);
	return ++m->count;
}

static inline void make_field(struct btf_maker *m, const char *name, uint32_t type, uint32_t bit_offset)
{
	blob_u32(&m->types, *name ? (uint32_t)blob_string(&m->strings, name) : 0);
	blob_u32(&m->types, type);
	blob_u32(&m->types, bit_offset);
}

static inline uint32_t make_int(struct btf_maker *m, const char *name, uint32_t size)
{
	uint32_t id = make_type(m, name, BTF_INT, 0, size);

	blob_u32(&m->types, size * 8);
	return id;
}

static inline uint32_t make_array(struct btf_maker *m, uint32_t type, uint32_t count)
{
	uint32_t id = make_type(m, "", BTF_ARRAY, 0, 0);

	blob_u32(&m->types, type);
	blob_u32(&m->types, type);
	blob_u32(&m->types, count);
	return id;
}

/* Make struct list_head, whose members have the pointer type `ptr`. */
static inline uint32_t make_list_head(struct btf_maker *m, uint32_t ptr)
{
	uint32_t id = make_type(m, "list_head", BTF_STRUCT, 2, 16);

	make_field(m, "next", ptr, 0);
	make_field(m, "prev", ptr, 64);
	return id;
}

/* Make struct module_layout of kernels before 6.4, with the members that the reader uses. */
static inline uint32_t make_module_layout(struct btf_maker *m, uint32_t ptr, uint32_t u32)
{
	uint32_t id = make_type(m, "module_layout", BTF_STRUCT, 2, 16);

	make_field(m, "base", ptr, 0);
	make_field(m, "text_size", u32, 64);
	return id;
}

static inline struct blob make_btf(const struct btf_maker *m)
{
	struct blob b = {0};

	blob_u16(&b, 0xeb9f);
	blob_u8(&b, 1);
	blob_u8(&b, 0);
	blob_u32(&b, 24);
	blob_u32(&b, 0);
	blob_u32(&b, (uint32_t)m->types.len);
	blob_u32(&b, (uint32_t)m->types.len);
	blob_u32(&b, (uint32_t)m->strings.len);
	blob_put(&b, m->types.bytes, m->types.len);
	blob_put(&b, m->strings.bytes, m->strings.len);
	return b;
}

static inline void make_free(struct btf_maker *m)
{
	blob_free(&m->types);
	blob_free(&m->strings);
}

#endif
