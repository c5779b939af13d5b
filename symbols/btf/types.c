/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the records of a BTF blob: the type with an id, the type under typedefs and qualifiers, and the size of a type. */
#include "symbols/btf/types.h"

#include <string.h>

#define MAX_CHAIN 64 /* steps to resolve one type; bounds the cost of hostile types that refer to each other in a circle */

bool btf_type_get(const struct btf *btf, uint32_t id, struct btf_type *out)
{
	if (!id || id >= btf->count)
		return false;
	memcpy(out, btf->types + btf->offsets[id], sizeof(*out));
	return true;
}

void btf_extra(const struct btf *btf, uint32_t id, uint32_t index, void *out, uint32_t size)
{
	memcpy(out, btf->types + btf->offsets[id] + sizeof(struct btf_type) + (size_t)index * size, size);
}

const char *btf_string(const struct btf *btf, uint32_t offset)
{
	return offset < btf->strings_len ? btf->strings + offset : "";
}

uint32_t btf_resolve(const struct btf *btf, uint32_t id)
{
	struct btf_type t;

	for (unsigned i = 0; i < MAX_CHAIN && btf_type_get(btf, id, &t); i++) {
		switch (btf_kind(&t)) {
		case BTF_TYPEDEF:
		case BTF_VOLATILE:
		case BTF_CONST:
		case BTF_RESTRICT:
		case BTF_TYPE_TAG:
			id = t.size_or_type;
			break;
		default:
			return id;
		}
	}
	return 0;
}

uint64_t btf_type_size(const struct btf *btf, uint32_t id)
{
	struct btf_array array;
	struct btf_type t;
	uint64_t count = 1;

	/* The counts of nested arrays multiply. The kernel has no object of 4 GiB, so a larger product is invalid. */
	for (unsigned i = 0; i < MAX_CHAIN && count <= UINT32_MAX; i++) {
		id = btf_resolve(btf, id);
		if (!btf_type_get(btf, id, &t))
			return 0;
		switch (btf_kind(&t)) {
		case BTF_PTR:
			return count <= UINT32_MAX / 8 ? count * 8 : 0;
		case BTF_ARRAY:
			btf_extra(btf, id, 0, &array, sizeof(array));
			count *= array.count;
			id = array.type;
			break;
		case BTF_INT:
		case BTF_STRUCT:
		case BTF_UNION:
		case BTF_ENUM:
		case BTF_ENUM64:
		case BTF_FLOAT:
			return count * t.size_or_type <= UINT32_MAX ? count * t.size_or_type : 0;
		default:
			return 0;
		}
	}
	return 0;
}
