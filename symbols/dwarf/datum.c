/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debuginfo_datum(): finds the variable in a register at a PC, and the member that an access through it touches. */
#include <stdio.h>
#include <string.h>

#include "symbols/dwarf/die.h"
#include "symbols/dwarf/location.h"
#include "symbols/dwarf/member.h"
#include "symbols/dwarf/origin.h"
#include "symbols/dwarf/query.h"
#include "symbols/dwarf/scope.h"
#include "symbols/dwarf/type.h"
#include "symbols/dwarf/variable.h"

#define MAX_FOUND 8 /* a query keeps at most this many data, the best */

/* A query follows a value back through at most this many instructions, from the register that holds the accessed address. */
#define MAX_STEPS 6

/* An access more than this number of objects beyond the pointer's target does not count as an access through that pointer. */
#define MAX_INDEX 65536

/* A candidate for the accessed datum, and the facts by which better() ranks candidates. */
struct rated {
	struct debuginfo_datum datum;
	bool first_object;    /* The datum is in the object at the pointer, not in a later element (pointer[3]). */
	uint64_t object_size; /* Size of the variable or pointee in bytes. */
};

/* A query for the data that an access of `size` bytes at reg + disp touches, and the results of this query. */
struct lookup {
	struct debuginfo *di;
	struct di_unit *u; /* The unit that contains the code. */
	uint64_t pc;	   /* Link address of the instruction. */
	int reg;	   /* enum x86_gpr */
	int64_t disp;
	uint64_t size;
	const char *function;	       /* The function whose scope is being searched. */
	struct rated found[MAX_FOUND]; /* Best first. */
	size_t n;		       /* Number of entries in `found`. */
};

/* Returns true if `a` is a better match than `b`. */
static bool better(const struct rated *a, const struct rated *b)
{
	if (a->first_object != b->first_object)
		return a->first_object;
	if (a->datum.fit != b->datum.fit)
		return a->datum.fit > b->datum.fit;
	return a->object_size > b->object_size;
}

/* Insert a match into `found`. Equal matches stay in the order of insertion, because the first is from the innermost scope. */
static void keep_best(struct lookup *q, const struct rated *r)
{
	size_t at = q->n;

	/*
	 * The same pointer can be in scope twice: in a function, and as the parameter of the same name of a function inlined
	 * into it. List the pointer once.
	 */
	for (size_t i = 0; i < q->n; i++) {
		if (!strcmp(q->found[i].datum.path, r->datum.path) && !strcmp(q->found[i].datum.owner, r->datum.owner))
			return;
	}
	while (at && better(r, &q->found[at - 1]))
		at--;
	if (at == MAX_FOUND)
		return;
	if (q->n < MAX_FOUND)
		q->n++;
	memmove(&q->found[at + 1], &q->found[at], (q->n - at - 1) * sizeof(*q->found));
	q->found[at] = *r;
}

/*
 * Add the datum that the access touches in a variable in memory. The access begins `distance` bytes after the variable's start.
 */
static int in_memory(struct lookup *q, struct di_pointee *to, int64_t distance)
{
	struct rated r = {.first_object = true};
	struct di_type type;

	if (di_type(q->di, to->type, &type))
		return -1;
	to->offset = (uint64_t)distance;
	if (to->offset >= type.size)
		return 0;
	r.object_size = type.size;
	if (di_fill_datum(q->di, to, q->size, &r.datum))
		return -1;
	keep_best(q, &r);
	return 0;
}

/*
 * Add the datum that the access touches in the pointee of a pointer, whose type is to->type. The access begins `distance` bytes
 * after the address in the pointer.
 */
static int through_pointer(struct lookup *q, struct di_pointee *to, int64_t distance)
{
	struct di_type pointer, object;
	struct rated r;

	if (di_type(q->di, to->type, &pointer))
		return -1;
	if (pointer.tag != DW_TAG_pointer_type && pointer.tag != DW_TAG_reference_type)
		return 0;
	if (di_type(q->di, pointer.target, &object))
		return -1;
	if (!object.size || distance < 0 || (uint64_t)distance / object.size > MAX_INDEX)
		return 0;
	to->by_pointer = true;
	to->type = pointer.target;
	to->index = (uint64_t)distance / object.size;
	to->offset = (uint64_t)distance % object.size;
	r = (struct rated){.first_object = !to->index, .object_size = object.size};
	if (di_fill_datum(q->di, to, q->size, &r.datum))
		return -1;
	/*
	 * An index above 0 is a guess: arrays of structures are rare, but a pointer into the middle of a larger object
	 * (list_head) is common.
	 */
	if (to->index && object.tag != DW_TAG_base_type && object.tag != DW_TAG_pointer_type)
		r.datum.fit = DEBUGINFO_FIT_LOOSE;
	keep_best(q, &r);
	return 0;
}

/* Add the datum of the access if the accessed address is in this variable or parameter, or in the object it points to. */
static int look_at_variable(struct di_unit *u, Dwarf_Die child, Dwarf_Half tag, void *ctx)
{
	struct lookup *q = ctx;
	struct di_pointee to = {.function = q->function};
	struct di_location location;
	int64_t distance;

	if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter)
		return 0;
	if (di_location(u, child, q->pc, &location))
		return -1;
	if (location.kind == DI_NOWHERE || location.reg != q->reg)
		return 0;
	to.variable = di_name(u, child, false);
	if (!to.variable || !di_inherited_reference(u, child, DW_AT_type, &to.type))
		return q->di->err->code == EXIT_OK ? 0 : -1;
	/* A corrupt debug file can give any offset. Subtract unsigned, so that overflow is defined. */
	distance = (int64_t)((uint64_t)q->disp - (uint64_t)location.offset);
	return location.kind == DI_VALUE ? through_pointer(q, &to, distance) : in_memory(q, &to, distance);
}

/* Set q->function to the name of the function that contains scope `i`. */
static int name_function(struct lookup *q, const struct di_scopes *scopes, size_t i)
{
	struct di_unit *u;
	Dwarf_Die die;

	while (i && scopes->at[i].tag != DW_TAG_subprogram && scopes->at[i].tag != DW_TAG_inlined_subroutine)
		i--;
	if (di_die_at(q->di, scopes->at[i].where, &u, &die))
		return -1;
	q->function = di_name(u, die, false);
	dwarf_dealloc_die(die);
	return 0;
}

/* Search the variables of all scopes, innermost first. */
static int look_through(struct lookup *q, const struct di_scopes *scopes)
{
	for (size_t i = scopes->n; i--;) {
		struct di_unit *u;
		Dwarf_Die die;
		int res;

		if (name_function(q, scopes, i) || di_die_at(q->di, scopes->at[i].where, &u, &die))
			return -1;
		res = di_children(u, die, look_at_variable, q);
		dwarf_dealloc_die(die);
		if (res < 0)
			return -1;
	}
	return 0;
}

static int collect(struct lookup *q, unsigned steps);

/*
 * The register was loaded from memory. If the loaded datum is a pointer, add the datum that the access touches in the pointee.
 */
static int through_load(struct lookup *q, const struct di_origin *from, unsigned steps)
{
	struct lookup inner = {.di = q->di, .u = q->u, .pc = from->pc, .reg = from->reg, .disp = from->disp, .size = 8};

	if (from->reg >= 0) {
		if (collect(&inner, steps))
			return -1;
	} else {
		int res = di_variable_at(q->di, from->addr, 8, &inner.found[0].datum);

		if (res < 0)
			return -1;
		inner.n = (size_t)res;
	}
	for (size_t i = 0; i < inner.n; i++) {
		const struct debuginfo_datum *d = &inner.found[i].datum;
		struct di_pointee to = {.variable = d->variable, .function = d->function, .text = d->path, .type = d->type_id};

		if (d->fit == DEBUGINFO_FIT_EXACT && through_pointer(q, &to, q->disp))
			return -1;
	}
	return 0;
}

/*
 * The register has the return value of a function of this file. If that value is a pointer, add the datum that the access
 * touches in the pointee.
 */
static int through_return(struct lookup *q, uint64_t target)
{
	struct di_unit *u = di_unit_of_code(q->di, target), *same;
	struct di_pointee to = {0};
	struct di_scopes scopes;
	char text[DEBUGINFO_TYPE_MAX];
	Dwarf_Die die;
	int status = 0;

	if (!u || di_scopes(u, target, &scopes))
		return q->di->err->code == EXIT_OK ? 0 : -1;
	if (!scopes.n || scopes.low != target)
		return 0;
	if (di_die_at(q->di, scopes.at[0].where, &same, &die))
		return -1;
	to.variable = di_name(u, die, false);
	if (to.variable && di_inherited_reference(u, die, DW_AT_type, &to.type)) {
		snprintf(text, sizeof(text), "%s()", to.variable);
		to.text = text;
		status = through_pointer(q, &to, q->disp);
	}
	dwarf_dealloc_die(die);
	return status;
}

/*
 * The register has a constant: the address of a variable or of a part of a variable. Add the datum that the access touches
 * there.
 */
static int at_address(struct lookup *q, uint64_t addr)
{
	struct rated r = {.first_object = true};
	int res = di_variable_at(q->di, addr + (uint64_t)q->disp, q->size, &r.datum);

	if (res > 0)
		keep_best(q, &r);
	return res < 0 ? -1 : 0;
}

/* Continue the search at the origin of the register's value. */
static int follow(struct lookup *q, const struct di_origin *from, unsigned steps)
{
	switch (from->kind) {
	case DI_SUM:
		q->pc = from->pc;
		q->reg = from->reg;
		q->disp = (int64_t)((uint64_t)q->disp + (uint64_t)from->disp);
		return collect(q, steps);
	case DI_LOAD:
		return through_load(q, from, steps);
	case DI_ADDRESS:
		return at_address(q, from->addr);
	case DI_RETURN:
		return through_return(q, from->addr);
	default:
		return 0;
	}
}

/*
 * The register's value has several possible origins, because paths join before the PC. Add the datum that the access touches
 * only if all origins lead to the same member of the same type: then it does not matter which path was taken.
 */
static int follow_all(struct lookup *q, const struct di_origin *from, int n, unsigned steps)
{
	struct rated first = {0};

	for (int i = 0; i < n; i++) {
		struct lookup one = {.di = q->di, .u = q->u, .pc = q->pc, .reg = q->reg, .disp = q->disp, .size = q->size};

		if (follow(&one, &from[i], steps))
			return -1;
		if (!one.n)
			return 0;
		if (!i)
			first = one.found[0];
		else if (strcmp(first.datum.owner, one.found[0].datum.owner) ||
			 strcmp(first.datum.member, one.found[0].datum.member))
			return 0;
	}
	keep_best(q, &first);
	return 0;
}

/* Find the data at reg + disp: by the variables in scope at the PC, then by the origins of the register's value. */
static int collect(struct lookup *q, unsigned steps)
{
	struct di_origin from[DI_MAX_ORIGINS];
	struct di_scopes scopes;
	int n;

	if (di_scopes(q->u, q->pc, &scopes))
		return -1;
	if (!scopes.n)
		return 0;
	if (look_through(q, &scopes))
		return -1;
	n = steps ? di_origins(q->di, scopes.low, scopes.high, q->pc, q->reg, from) : 0;
	if (n > 1)
		return follow_all(q, from, n, steps - 1);
	return n == 1 ? follow(q, &from[0], steps - 1) : n;
}

int debuginfo_datum(struct debuginfo *di, uint64_t pc, enum x86_gpr reg, int64_t disp, size_t size, struct debuginfo_datum *out,
		    size_t max, struct err *err)
{
	struct lookup q = {.di = di, .reg = reg, .disp = disp, .size = size ? size : 1};
	struct di_query query;

	di_begin(di, &query, err);
	if (di_file_to_link(&di->file, pc, &q.pc)) {
		q.u = di_unit_of_code(di, q.pc);
		if (q.u)
			collect(&q, MAX_STEPS);
	}
	if (q.n > max)
		q.n = max;
	for (size_t i = 0; i < q.n; i++)
		out[i] = q.found[i].datum;
	return di_end(di, &query, (int)q.n);
}
