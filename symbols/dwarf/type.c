/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resolves types (DWARF 5 chapter 5), and writes their names in C syntax. */
#include "symbols/dwarf/type.h"

#include <stdio.h>
#include <string.h>

#include "symbols/dwarf/die.h"

/* Returns true for a tag that only renames or qualifies its target: a typedef or a qualifier. */
static bool only_a_name(Dwarf_Half tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type || tag == DW_TAG_immutable_type;
}

static int add_dimension(struct di_unit *u, Dwarf_Die child, Dwarf_Half tag, void *ctx)
{
	struct di_dimensions *d = ctx;
	uint64_t count = 0, upper;

	if (tag != DW_TAG_subrange_type)
		return 0;
	if (d->n == DI_MAX_DIMENSIONS)
		return di_corrupt(u, "an array of too many dimensions", NULL);
	/* Array indexes begin at 0 in C. Some compilers write an upper bound of -1 for "no elements". */
	if (!di_number(u, child, DW_AT_count, &count) && di_number(u, child, DW_AT_upper_bound, &upper))
		count = upper + 1;
	d->count[d->n++] = count;
	return u->di->err->code == EXIT_OK ? 0 : -1;
}

static int read_dimensions(struct di_unit *u, Dwarf_Die die, struct di_dimensions *out)
{
	out->n = 0;
	return di_children(u, die, add_dimension, out) < 0 ? -1 : 0;
}

int di_dimensions(struct debuginfo *di, uint64_t where, struct di_dimensions *out)
{
	struct di_unit *u;
	Dwarf_Die die;
	int status;

	if (di_die_at(di, where, &u, &die))
		return -1;
	status = read_dimensions(u, die, out);
	dwarf_dealloc_die(die);
	return status;
}

/*
 * Read the type DIE at `where`. Returns 1 if the DIE only renames, qualifies or refers to its target, 0 for any other type, or
 * -1 with the error set.
 */
static int read_type(struct debuginfo *di, uint64_t where, struct di_type *out, struct di_dimensions *dims)
{
	struct di_unit *u;
	Dwarf_Die die;
	int status = 0;
	bool stub;

	*out = (struct di_type){.where = where};
	dims->n = 0;
	if (!where)
		return 0;
	if (di_die_at(di, where, &u, &die))
		return -1;
	out->tag = di_tag(u, die);
	/* Some compilers refer to a type unit's type through a stub: a DIE with only a tag and DW_AT_signature. */
	stub = di_reference(u, die, DW_AT_signature, &out->target);
	if (!stub)
		di_reference(u, die, DW_AT_type, &out->target);
	di_number(u, die, DW_AT_byte_size, &out->size);
	out->incomplete = di_flag(u, die, DW_AT_declaration);
	if (out->tag == DW_TAG_pointer_type && !out->size)
		out->size = 8;
	if (out->tag == DW_TAG_array_type)
		status = read_dimensions(u, die, dims);
	dwarf_dealloc_die(die);
	return status || di->err->code != EXIT_OK ? -1 : stub || only_a_name(out->tag);
}

/* Returns the size in bytes of an array with elements of `element` bytes, or 0 if the size is unknown or overflows. */
static uint64_t array_size(const struct di_dimensions *dims, uint64_t element)
{
	uint64_t size = element;

	for (unsigned i = 0; i < dims->n; i++) {
		if (__builtin_mul_overflow(size, dims->count[i], &size))
			return 0;
	}
	return dims->n ? size : 0;
}

static int type_at_depth(struct debuginfo *di, uint64_t where, unsigned depth, struct di_type *out)
{
	struct di_dimensions dims;
	struct di_type element;
	int more;

	do {
		if (depth++ > DI_MAX_DEPTH)
			return err_set(di->err, EXIT_INPUT, "%s: a type that leads back to itself: corrupt", di->file.path);
		more = read_type(di, where, out, &dims);
		if (more < 0)
			return -1;
		where = out->target;
	} while (more);
	if (out->tag == DW_TAG_array_type && !out->size) {
		if (type_at_depth(di, out->target, depth, &element))
			return -1;
		out->size = array_size(&dims, element.size);
	}
	return 0;
}

int di_type(struct debuginfo *di, uint64_t where, struct di_type *out)
{
	return type_at_depth(di, where, 0, out);
}

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
