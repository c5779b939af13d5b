/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Type resolution (DWARF 5 chapter 5). */
#include "symbols/dwarf/type.h"

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
