/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debuginfo_member(): the member at an offset of a type that an earlier query returned. */
#include "symbols/dwarf/fill.h"
#include "symbols/dwarf/query.h"
#include "symbols/dwarf/type.h"
#include "symbols/dwarf/unit.h"

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
