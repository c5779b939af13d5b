/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the path of a datum: "variable.member", "pointer->member", "*pointer" or "pointer[3].member". */
#include "symbols/dwarf/fill.h"

#include <stdio.h>
#include <string.h>

#include "symbols/dwarf/member.h"
#include "symbols/dwarf/type.h"

/* Join the object's name and the path inside the object. */
static void name_path(const struct di_pointee *to, const struct di_path *below, struct debuginfo_datum *out)
{
	const char *text = to->text ? to->text : to->variable;
	bool bracket = below->text[0] == '[', star = to->by_pointer && !to->index && (bracket || !below->len);
	/* In C, the prefix operator * binds weaker than the postfix operators that follow, so put "*pointer" in parentheses. */
	bool wrap = (star && bracket) || (text[0] == '*' && (below->len || to->index));
	struct di_path whole = {0};
	char index[32];

	di_path_add(&whole, wrap ? "(" : "");
	di_path_add(&whole, star ? "*" : "");
	di_path_add(&whole, text);
	di_path_add(&whole, wrap ? ")" : "");
	if (to->index) {
		snprintf(index, sizeof(index), "[%lu]", (unsigned long)to->index);
		di_path_add(&whole, index);
	}
	if (below->len && !bracket)
		di_path_add(&whole, to->by_pointer && !to->index ? "->" : ".");
	di_path_add(&whole, below->text);
	memcpy(out->path, whole.text, sizeof(out->path));
	memcpy(out->member, below->text, sizeof(out->member));
}

int di_fill_datum(struct debuginfo *di, const struct di_pointee *to, uint64_t size, struct debuginfo_datum *out)
{
	struct di_path below = {0};
	struct di_type owner;

	if (di_type(di, to->type, &owner) || di_member(di, to->type, to->offset, size, &below))
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
