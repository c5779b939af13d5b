/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A datum's names: "variable.member", "pointer->member", "*pointer", "pointer[3].member". */
#include "symbols/dwarf/fill.h"

#include <stdio.h>
#include <string.h>

#include "symbols/dwarf/member.h"
#include "symbols/dwarf/type.h"

static void name_path(const struct di_pointee *to, const struct di_path *way, struct debuginfo_datum *out)
{
	const char *text = to->text ? to->text : to->variable;
	bool bracket = way->text[0] == '[', star = to->by_pointer && !to->index && (bracket || !way->len);
	/* "*p" binds weaker than what follows it. */
	bool wrap = (star && bracket) || (text[0] == '*' && (way->len || to->index));
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
	if (way->len && !bracket)
		di_path_add(&whole, to->by_pointer && !to->index ? "->" : ".");
	di_path_add(&whole, way->text);
	memcpy(out->path, whole.text, sizeof(out->path));
	memcpy(out->member, way->text, sizeof(out->member));
}

int di_fill_datum(struct debuginfo *di, const struct di_pointee *to, uint64_t size, struct debuginfo_datum *out)
{
	struct di_path way = {0};

	if (di_member(di, to->type, to->offset, size, &way))
		return -1;
	*out = (struct debuginfo_datum){
		.variable = to->variable,
		.function = to->function,
		.offset = to->offset,
		.size = way.size,
		.rest = way.rest,
		.bit_offset = way.bit_offset,
		.bit_size = way.bit_size,
		.type_id = way.several ? 0 : way.type,
		.fit = way.fit,
	};
	name_path(to, &way, out);
	di_type_name(di, to->type, out->owner, sizeof(out->owner));
	di_type_name(di, way.type, out->type, sizeof(out->type));
	return di->err->code == EXIT_OK ? 0 : -1;
}
