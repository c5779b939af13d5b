/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes type names in C syntax. */
#include <stdio.h>
#include <string.h>

#include "symbols/dwarf/die.h"
#include "symbols/dwarf/type.h"

/* The output buffer. */
struct text {
	const char *start;
	char *at;    /* End of the text. */
	size_t room; /* Bytes left from `at`, including the NUL. */
};

static void append(struct text *out, const char *s)
{
	size_t len = strlen(s);

	if (len >= out->room)
		len = out->room - 1;
	memcpy(out->at, s, len);
	out->at += len;
	out->room -= len;
	*out->at = '\0';
}

/* Returns the keyword that precedes the name of a type with this tag. */
static const char *keyword(Dwarf_Half tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return "struct ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	case DW_TAG_const_type:
		return "const ";
	case DW_TAG_volatile_type:
		return "volatile ";
	default:
		return "";
	}
}

static void append_type(struct debuginfo *di, uint64_t where, unsigned depth, struct text *out);

/* Returns the tag of the DIE at a place. 0 for void, or with the error set. */
static Dwarf_Half tag_at(struct debuginfo *di, uint64_t where)
{
	struct di_unit *u;
	Dwarf_Half tag;
	Dwarf_Die die;

	if (!where || di_die_at(di, where, &u, &die))
		return 0;
	tag = di_tag(u, die);
	dwarf_dealloc_die(die);
	return tag;
}

static void append_dimensions(struct debuginfo *di, uint64_t where, struct text *out)
{
	struct di_dimensions dims;

	if (di_dimensions(di, where, &dims))
		return;
	for (unsigned i = 0; i < dims.n; i++) {
		char text[32] = "[]";

		if (dims.count[i])
			snprintf(text, sizeof(text), "[%lu]", (unsigned long)dims.count[i]);
		append(out, text);
	}
}

/*
 * Write what follows the name of the target type: the star of a pointer, the qualifier of a pointer after its star, or array
 * dimensions.
 */
static void append_suffix(struct debuginfo *di, uint64_t where, Dwarf_Half tag, Dwarf_Half target, struct text *out)
{
	bool qualifies = *keyword(tag) && target == DW_TAG_pointer_type;

	if (tag == DW_TAG_pointer_type && target != DW_TAG_subroutine_type)
		append(out, target == DW_TAG_pointer_type ? "*" : " *");
	else if (tag == DW_TAG_subroutine_type)
		append(out, " (*)()");
	else if (tag == DW_TAG_array_type)
		append_dimensions(di, where, out);
	else if (qualifies && out->at > out->start && out->at[-1] == '*')
		append(out, tag == DW_TAG_const_type ? "const" : "volatile");
}

static void append_type(struct debuginfo *di, uint64_t where, unsigned depth, struct text *out)
{
	Dwarf_Half tag, target_tag;
	const char *name;
	struct di_unit *u;
	uint64_t target;
	Dwarf_Die die;

	if (!where) {
		append(out, "void");
		return;
	}
	if (depth > DI_MAX_DEPTH || di_die_at(di, where, &u, &die))
		return;
	tag = di_tag(u, die);
	name = di_name(u, die, false);
	di_reference(u, die, DW_AT_type, &target);
	dwarf_dealloc_die(die);
	target_tag = tag_at(di, target);
	/* A pointer's qualifiers follow its star. An array's qualifiers belong to its elements too. */
	if (name || (target_tag != DW_TAG_pointer_type && target_tag != DW_TAG_array_type))
		append(out, keyword(tag));
	if (name)
		append(out, name);
	else if (tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type ||
		 tag == DW_TAG_class_type)
		append(out, "{...}");
	else
		append_type(di, target, depth + 1, out);
	if (!name)
		append_suffix(di, where, tag, target_tag, out);
}

void di_type_name(struct debuginfo *di, uint64_t where, char *buf, size_t size)
{
	struct text out = {.start = buf, .at = buf, .room = size};

	*buf = '\0';
	append_type(di, where, 0, &out);
}
