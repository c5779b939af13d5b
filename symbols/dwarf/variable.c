/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debuginfo_variable_at(): finds the global or static variable at an address, and the member there. */
#include "symbols/dwarf/variable.h"

#include <string.h>

#include "symbols/dwarf/candidates.h"
#include "symbols/dwarf/die.h"
#include "symbols/dwarf/member.h"
#include "symbols/dwarf/query.h"
#include "symbols/dwarf/type.h"
#include "symbols/dwarf/unit.h"

#define MAX_NAMES 8   /* ELF symbols that can share one address */
#define MAX_TRIES 256 /* Most candidates tried per search. Usually most of them are no variable at the address. */

/* The query. */
struct lookup {
	struct debuginfo *di;
	uint64_t addr;		      /* Link address of the access. */
	uint64_t size;		      /* Bytes of the access. */
	const char *names[MAX_NAMES]; /* Names of the ELF symbols that contain the address. */
	size_t n_names;
	uint64_t start; /* Link address where these symbols begin. */
};

/* The search for the DIE that contains an expression. */
struct found {
	uint64_t expression;  /* Place of the expression. */
	uint64_t where;	      /* Place of the last DIE on the current level that begins before the expression. */
	Dwarf_Half tag;	      /* Tag of that DIE. */
	const char *function; /* Innermost function around the expression. NULL: none. */
};

static int last_before(struct di_unit *u, Dwarf_Die child, Dwarf_Half tag, void *ctx)
{
	struct found *f = ctx;
	uint64_t where = di_offset(u, child);

	if (!where)
		return -1;
	if (where > f->expression)
		return 1;
	f->where = where;
	f->tag = tag;
	return 0;
}

/*
 * Find the DIE that contains the expression, level by level. Returns 1, and the caller frees *die; 0 if there is no such DIE;
 * or -1 with the error set.
 */
static int find_die(struct di_unit *u, struct found *f, Dwarf_Die *die)
{
	Dwarf_Die at = u->cu;

	f->function = NULL;
	for (unsigned depth = 0; depth < DI_MAX_DEPTH; depth++) {
		struct di_unit *same;
		int res;

		f->where = 0;
		res = di_children(u, at, last_before, f);
		if (at != u->cu && (res < 0 || f->where))
			dwarf_dealloc_die(at);
		if (res < 0)
			return -1;
		if (!f->where) {
			*die = at;
			return at != u->cu;
		}
		if (di_die_at(u->di, f->where, &same, &at))
			return -1;
		if (f->tag == DW_TAG_subprogram || f->tag == DW_TAG_inlined_subroutine)
			f->function = di_name(u, at, false);
	}
	dwarf_dealloc_die(at);
	return 0;
}

/*
 * Returns true if a symbol at the address has the variable's name. The symbol of a function's static variable, and of a
 * variable that the compiler has cloned, is "name.123".
 */
static bool has_symbol(const struct lookup *q, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < q->n_names; i++) {
		if (!strncmp(q->names[i], name, len) && (!q->names[i][len] || q->names[i][len] == '.'))
			return true;
	}
	return false;
}

/*
 * Check that `die` is a variable at v->addr that contains the address. Returns 1 with `out` filled in, 0, or -1 with the error
 * set.
 */
static int check_variable(const struct lookup *q, struct di_unit *u, Dwarf_Die die, const struct di_candidate *v,
			  const char *function, struct debuginfo_datum *out)
{
	struct di_pointee to = {.offset = q->addr - v->addr, .function = function};
	struct di_type type;

	if (di_tag(u, die) != DW_TAG_variable || !di_has(u, die, DW_AT_location))
		return 0;
	to.variable = di_name(u, die, false);
	if (!to.variable || (q->n_names && v->addr == q->start && !has_symbol(q, to.variable)))
		return 0;
	if (!di_inherited_reference(u, die, DW_AT_type, &to.type) || di_type(q->di, to.type, &type))
		return q->di->err->code == EXIT_OK ? 0 : -1;
	if (to.offset >= (type.size ? type.size : 1))
		return 0;
	if (di_fill_datum(q->di, &to, q->size, out))
		return -1;
	if (!di_file_to_run(&q->di->file, v->addr, &out->start))
		out->start = 0;
	return 1;
}

/* Returns 1 with `out` filled in if the candidate is the variable, 0 if not, or -1 with the error set. */
static int try_candidate(const struct lookup *q, const struct di_candidate *v, struct debuginfo_datum *out)
{
	struct found f = {.expression = v->where};
	struct di_unit *u;
	Dwarf_Die die;
	int res;

	if (!di_head_at(q->di, v->where))
		return 0;
	u = di_unit_at(q->di, v->where);
	if (!u)
		return -1;
	res = find_die(u, &f, &die);
	if (res <= 0)
		return res;
	res = check_variable(q, u, die, v, f.function, out);
	dwarf_dealloc_die(die);
	return res;
}

/*
 * Try the candidates at link addresses [low, high], the highest first. Stop early once many units are open: each candidate may
 * be in another unit, and an address without a variable would open MAX_TRIES units.
 */
static int try_between(const struct lookup *q, uint64_t low, uint64_t high, struct debuginfo_datum *out)
{
	const struct debuginfo *di = q->di;
	size_t at = di_bisect(di->candidates, di->n_candidates, sizeof(*di->candidates), high);

	for (unsigned tries = 0; at-- && tries < MAX_TRIES && !di_units_many(di); tries++) {
		int res;

		if (di->candidates[at].addr < low)
			return 0;
		res = try_candidate(q, &di->candidates[at], out);
		if (res)
			return res;
	}
	return 0;
}

/*
 * Find the variable by the candidates. A variable that begins before the ELF symbol cannot contain the address. First try the
 * candidates at the symbol's start: one of them is most likely the variable. Between the start and the address there may be any
 * number of other candidates, such as addresses of members in call parameters.
 */
static int find_variable(const struct lookup *q, struct debuginfo_datum *out)
{
	int res = q->n_names ? try_between(q, q->start, q->start, out) : 0;

	return res ? res : try_between(q, q->n_names ? q->start : 0, q->addr, out);
}

int di_variable_at(struct debuginfo *di, uint64_t link, uint64_t size, struct debuginfo_datum *out)
{
	struct lookup q = {.di = di, .addr = link, .size = size};

	if (di_index(di) || di_index_candidates(di))
		return -1;
	q.n_names = di_file_objects(&di->file, link, q.names, MAX_NAMES, &q.start);
	return find_variable(&q, out);
}

int debuginfo_variable_at(struct debuginfo *di, uint64_t addr, size_t size, struct debuginfo_datum *out, struct err *err)
{
	struct di_query query;
	uint64_t link;
	int n = 0;

	di_begin(di, &query, err);
	*out = (struct debuginfo_datum){0};
	if (di_file_to_link(&di->file, addr, &link))
		n = di_variable_at(di, link, size ? size : 1, out);
	return di_end(di, &query, n);
}
