/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types as C writes them. */
#include <stdio.h>
#include <string.h>

#include "symbols/dwarf/die.h"
#include "symbols/dwarf/type.h"

struct words {
	const char *start;
	char *at;
	size_t room; /* the end of the string included */
};

static void say(struct words *w, const char *text)
{
	size_t len = strlen(text);

	if (len >= w->room)
		len = w->room - 1;
	memcpy(w->at, text, len);
	w->at += len;
	w->room -= len;
	*w->at = '\0';
}

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

static void say_type(struct debuginfo *di, uint64_t where, unsigned depth, struct words *w);

/* 0: void, or error set. */
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

static void say_dimensions(struct debuginfo *di, uint64_t where, struct words *w)
{
	struct di_dimensions dims;

	if (di_dimensions(di, where, &dims))
		return;
	for (unsigned i = 0; i < dims.n; i++) {
		char text[32] = "[]";

		if (dims.count[i])
			snprintf(text, sizeof(text), "[%lu]", (unsigned long)dims.count[i]);
		say(w, text);
	}
}

/* What comes behind the target's name: a pointer's star, and behind that, what qualifies the pointer; an array's dimensions. */
static void say_suffix(struct debuginfo *di, uint64_t where, Dwarf_Half tag, Dwarf_Half target, struct words *w)
{
	bool qualifies = *keyword(tag) && target == DW_TAG_pointer_type;

	if (tag == DW_TAG_pointer_type && target != DW_TAG_subroutine_type)
		say(w, target == DW_TAG_pointer_type ? "*" : " *");
	else if (tag == DW_TAG_subroutine_type)
		say(w, " (*)()");
	else if (tag == DW_TAG_array_type)
		say_dimensions(di, where, w);
	else if (qualifies && w->at > w->start && w->at[-1] == '*')
		say(w, tag == DW_TAG_const_type ? "const" : "volatile");
}

static void say_type(struct debuginfo *di, uint64_t where, unsigned depth, struct words *w)
{
	Dwarf_Half tag, target_tag;
	const char *name;
	struct di_unit *u;
	uint64_t target;
	Dwarf_Die die;

	if (!where) {
		say(w, "void");
		return;
	}
	if (depth > DI_MAX_DEPTH || di_die_at(di, where, &u, &die))
		return;
	tag = di_tag(u, die);
	name = di_name(u, die, false);
	di_reference(u, die, DW_AT_type, &target);
	dwarf_dealloc_die(die);
	target_tag = tag_at(di, target);
	/* A pointer's qualifiers come behind its star; of an array, the elements have them too. */
	if (name || (target_tag != DW_TAG_pointer_type && target_tag != DW_TAG_array_type))
		say(w, keyword(tag));
	if (name)
		say(w, name);
	else if (tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type ||
		 tag == DW_TAG_class_type)
		say(w, "{...}");
	else
		say_type(di, target, depth + 1, w);
	if (!name)
		say_suffix(di, where, tag, target_tag, w);
}

void di_type_name(struct debuginfo *di, uint64_t where, char *buf, size_t size)
{
	struct words w = {.start = buf, .at = buf, .room = size};

	*buf = '\0';
	say_type(di, where, 0, &w);
}
