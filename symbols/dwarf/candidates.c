/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No widely used table maps a data address to its variable: .debug_names is optional, and gcc does not write it. Reading every
 * DIE of a kernel takes many seconds. But the location of a variable at a fixed address always has the same encoding in
 * .debug_info: the length 9, DW_OP_addr and the address. One scan for these bytes finds the candidates: all such variables, and
 * some other positions that match by accident. A candidate is verified when its address is queried.
 */
#include "symbols/dwarf/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/order.h"
#include "symbols/dwarf/cursor.h"
#include "symbols/dwarf/die.h"
#include "symbols/dwarf/unit.h"

#define EXPRESSION_LENGTH 9	  /* bytes: DW_OP_addr and the address */
#define MAX_CANDIDATES (4u << 20) /* bounds the memory that a hostile file can cost */

/* The scan drops the file's resident pages after each 8 MiB, so that it does not keep all of .debug_info in memory. */
#define RELEASE_EVERY (8u << 20)

struct stretch {
	uint64_t start, end; /* Link addresses [start, end). */
};

/* One scan of .debug_info. */
struct pass {
	struct debuginfo *di;
	struct stretch *loaded; /* The sections in memory at run time. Other addresses are not variables. */
	size_t n;		/* Number of entries in `loaded`. */
	size_t room;		/* Entries that di->candidates has room for. */
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

	if (!wanted(p, addr))
		return 0;
	if (di->n_candidates == p->room) {
		size_t more = p->room ? p->room * 2 : 4096;
		struct di_candidate *at = more > MAX_CANDIDATES ? NULL : realloc(di->candidates, more * sizeof(*at));

		if (!at)
			return di_memory(di);
		di->candidates = at;
		p->room = more;
	}
	di->candidates[di->n_candidates++] = (struct di_candidate){addr, where};
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
 * List the positions of DW_OP_addrx, which clang writes since DWARF 5. Its operand is an index instead of an address, into the
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
		/* Ignore the error of a corrupt unit: the others are still usable. */
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

int di_index_candidates(struct debuginfo *di)
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
