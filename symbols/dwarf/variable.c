/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debuginfo_variable_at(): finds the global or static variable at an address, and the member there.
 *
 * No widely used table maps a data address to its variable: .debug_names is optional, and gcc does not write it. Reading every
 * DIE of a kernel takes many seconds. But the location of a variable at a fixed address always has the same encoding in
 * .debug_info: the length 9, DW_OP_addr and the address. One scan for these bytes finds the candidates: all such variables, and
 * some other positions that match by accident. A candidate is verified when its address is queried.
 */
#include "symbols/dwarf/variable.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/base/order.h"
#include "symbols/dwarf/cursor.h"
#include "symbols/dwarf/die.h"
#include "symbols/dwarf/member.h"
#include "symbols/dwarf/query.h"
#include "symbols/dwarf/type.h"
#include "symbols/dwarf/unit.h"

#define EXPRESSION_LENGTH 9	  /* bytes: DW_OP_addr and the address */
#define MAX_CANDIDATES (4u << 20) /* at most this many candidates: bounds the memory that a hostile file can cost */

/* The scan drops the file's resident pages after each 8 MiB, so that it does not keep all of .debug_info in memory. */
#define RELEASE_EVERY (8u << 20)

#define MAX_NAMES 8 /* ELF symbols that can share one address */
/* A search tries at most this many candidates: each try costs time, and few candidates are the variable at the address. */
#define MAX_TRIES 256

struct stretch {
	uint64_t start, end; /* Link addresses [start, end). */
};

/* One scan of .debug_info. */
struct pass {
	struct debuginfo *di;
	/* The sections that are in memory at run time. An address outside of these sections belongs to no variable. */
	struct stretch *loaded;
	size_t n; /* Number of entries in `loaded`. */
};

static bool wanted(const struct pass *p, uint64_t addr)
{
	for (size_t i = 0; i < p->n; i++) {
		if (addr >= p->loaded[i].start && addr < p->loaded[i].end)
			return true;
	}
	return false;
}

static int add_candidate(struct pass *p, uint64_t addr, uint64_t where)
{
	struct debuginfo *di = p->di;
	struct di_candidate *to = NULL;

	if (!wanted(p, addr))
		return 0;
	if (di->n_candidates < MAX_CANDIDATES)
		to = list_grow(&di->candidates, &di->n_candidates, sizeof(*to), NULL);
	if (!to)
		return di_memory(di);
	*to = (struct di_candidate){addr, where};
	return 0;
}

/* List the positions of DW_OP_addr. memchr() for the length byte is five times as fast as memmem() for two bytes. */
static int scan_plain(struct pass *p, const struct di_section *s)
{
	const uint8_t *at = s->bytes, *end = s->bytes + s->size, *release = at + RELEASE_EVERY;

	while ((at = memchr(at, EXPRESSION_LENGTH, (size_t)(end - at))) && end - at > EXPRESSION_LENGTH) {
		uint64_t addr;

		if (at[1] == DW_OP_addr) {
			memcpy(&addr, at + 2, sizeof(addr));
			if (add_candidate(p, addr, (uint64_t)(at - s->bytes)))
				return -1;
		}
		at++;
		if (at > release) {
			di_file_release(&p->di->file);
			release = at + RELEASE_EVERY;
		}
	}
	di_file_release(&p->di->file);
	return 0;
}

/*
 * List the positions of DW_OP_addrx, which clang writes since DWARF 5. Its operand is not an address but an index into the
 * unit's part of .debug_addr, which begins at `base`.
 */
static int scan_numbered(struct pass *p, const struct di_section *s, const struct di_section *addresses,
			 const struct di_unit *u, uint64_t base)
{
	const uint8_t *at = s->bytes + u->head->offset, *end = at + u->head->length;

	while ((at = memchr(at, DW_OP_addrx, (size_t)(end - at)))) {
		struct di_cursor c = {.bytes = at, .at = 1, .end = (uint64_t)(end - at)};
		uint64_t number = di_uleb(&c), addr;

		if (!c.bad && at > s->bytes && at[-1] == c.at && base < addresses->size &&
		    number < (addresses->size - base) / sizeof(addr)) {
			memcpy(&addr, addresses->bytes + base + number * sizeof(addr), sizeof(addr));
			if (add_candidate(p, addr, (uint64_t)(at - 1 - s->bytes)))
				return -1;
		}
		at++;
	}
	return 0;
}

/* Scan the DWARF 5 units for indexed addresses. A unit must be opened to find the start of its part of .debug_addr. */
static int scan_units(struct pass *p, const struct di_section *s)
{
	struct debuginfo *di = p->di;
	struct di_section *addresses = di_file_section(&di->file, ".debug_addr", di->err);

	for (size_t i = 0; addresses && i < di->n_heads; i++) {
		struct err *err = di->err, local = {0};
		struct di_unit *u;
		uint64_t base;

		if (di->heads[i].offset & DI_IN_TYPES || di->heads[i].version < 5)
			continue;
		/* Ignore the error of a corrupt unit: the other units are still usable. */
		di->err = &local;
		u = di_unit_open(di, &di->heads[i]);
		if (u && di_offset_value(u, u->cu, DW_AT_addr_base, &base))
			scan_numbered(p, s, addresses, u, base);
		di_unit_close(u);
		di->err = err;
		if (local.code == EXIT_INTERNAL)
			return err_set(err, local.code, "%s", local.text);
	}
	return di->err->code == EXIT_OK ? 0 : -1;
}

static int candidate_order(const void *a, const void *b)
{
	const struct di_candidate *x = a, *y = b;
	int order = order_u64(x->addr, y->addr);

	return order ? order : order_u64(x->where, y->where);
}

/*
 * List in di->candidates all positions in .debug_info that may be the location of a variable at a fixed address. Only the first
 * call does work. di_index() must have been called. Returns 0, or -1 with the error set.
 */
static int index_candidates(struct debuginfo *di)
{
	struct di_section *s = di_file_section(&di->file, ".debug_info", di->err);
	struct pass p = {.di = di};
	int status;

	if (!s || di->have_candidates)
		return di->err->code == EXIT_OK ? 0 : -1;
	di->have_candidates = true;
	p.loaded = calloc(di->file.count, sizeof(*p.loaded));
	if (!p.loaded)
		return di_memory(di);
	for (size_t i = 1; i < di->file.count; i++) {
		const struct di_section *data = &di->file.sections[i];

		/* Exclude address 0, which the linker writes to the DWARF of variables that it has discarded. */
		if (data->alloc && data->size)
			p.loaded[p.n++] = (struct stretch){data->link ? data->link : 1, data->link + data->size};
	}
	status = scan_plain(&p, s) || scan_units(&p, s) ? -1 : 0;
	free(p.loaded);
	if (di->n_candidates)
		qsort(di->candidates, di->n_candidates, sizeof(*di->candidates), candidate_order);
	return status;
}

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
 * Check that `die` is a variable that begins at v->addr and contains q->addr. Returns 1 with `out` filled in, 0 if the check
 * fails, or -1 with the error set.
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

	if (di_index(di) || index_candidates(di))
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
