/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads range lists and location lists. Both lists have entries of the same kinds, but each list has its own codes for these
 * kinds. An entry of a location list also has an expression.
 */
#include "symbols/dwarf/list.h"

#include "symbols/dwarf/die.h"

enum kind {
	END,
	BASE_NUMBER,	/* New base, as an index into .debug_addr. */
	NUMBERS,	/* Both bounds, as indexes into .debug_addr. */
	NUMBER_LENGTH,	/* Lower bound, as an index into .debug_addr, and length. */
	OFFSETS,	/* Both bounds, as offsets from the base. */
	EVERYWHERE,	/* No bounds: the default location, for addresses that no other entry covers. */
	BASE,		/* New base, as an address. */
	ADDRESSES,	/* Both bounds, as addresses. */
	ADDRESS_LENGTH, /* Lower bound, as an address, and length. */
	VIEWS,		/* DW_LLE_GNU_view_pair, a GNU extension with no addresses. */
	UNKNOWN,
};

static enum kind kind_of(bool locations, uint64_t code)
{
	static const enum kind ranges[] = {END, BASE_NUMBER, NUMBERS, NUMBER_LENGTH, OFFSETS, BASE, ADDRESSES, ADDRESS_LENGTH};
	static const enum kind places[] = {END,	       BASE_NUMBER, NUMBERS,   NUMBER_LENGTH,  OFFSETS,
					   EVERYWHERE, BASE,	    ADDRESSES, ADDRESS_LENGTH, VIEWS};

	if (locations)
		return code < sizeof(places) / sizeof(places[0]) ? places[code] : UNKNOWN;
	return code < sizeof(ranges) / sizeof(ranges[0]) ? ranges[code] : UNKNOWN;
}

/* Returns entry `number` of the unit's part of .debug_addr. */
static uint64_t numbered_address(struct di_list *list, uint64_t number)
{
	struct di_unit *u = list->u;
	struct di_section *s = di_file_section(&u->di->file, ".debug_addr", u->di->err);
	uint64_t base, addr;

	if (!s || !di_offset_value(u, u->cu, DW_AT_addr_base, &base) || base > s->size || number >= (s->size - base) / 8) {
		list->c.bad = true;
		return 0;
	}
	memcpy(&addr, s->bytes + base + number * 8, sizeof(addr));
	return addr;
}

static void take_bounds(struct di_list *list, enum kind kind, struct di_entry *e)
{
	struct di_cursor *c = &list->c;

	switch (kind) {
	case NUMBERS:
		e->low = numbered_address(list, di_uleb(c));
		e->high = numbered_address(list, di_uleb(c));
		break;
	case NUMBER_LENGTH:
		e->low = numbered_address(list, di_uleb(c));
		e->high = e->low + di_uleb(c);
		break;
	case OFFSETS:
		e->low = list->base + di_uleb(c);
		e->high = list->base + di_uleb(c);
		break;
	case ADDRESSES:
		e->low = di_take(c, 8);
		e->high = di_take(c, 8);
		break;
	case ADDRESS_LENGTH:
		e->low = di_take(c, 8);
		e->high = e->low + di_uleb(c);
		break;
	default: /* EVERYWHERE */
		e->low = 0;
		e->high = UINT64_MAX;
		break;
	}
}

static void take_expression(struct di_cursor *c, uint64_t length, struct di_entry *e)
{
	e->expression = c->bytes + c->at;
	e->length = length;
	di_skip(c, length);
}

static int bad_list(struct di_list *list)
{
	return di_corrupt(list->u, list->locations ? "a location list" : "a list of code ranges", NULL);
}

static int next_entry(struct di_list *list, struct di_entry *e)
{
	struct di_cursor *c = &list->c;

	while (!c->bad) {
		enum kind kind = kind_of(list->locations, di_take(c, 1));

		if (c->bad || kind == UNKNOWN || !di_spend(list->u->di, 1))
			break;
		if (kind == END)
			return 0;
		if (kind == BASE_NUMBER) {
			list->base = numbered_address(list, di_uleb(c));
		} else if (kind == BASE) {
			list->base = di_take(c, 8);
		} else if (kind == VIEWS) {
			di_uleb(c);
			di_uleb(c);
		} else {
			take_bounds(list, kind, e);
			if (list->locations)
				take_expression(c, di_uleb(c), e);
			return c->bad ? bad_list(list) : 1;
		}
	}
	return bad_list(list);
}

/*
 * Read the next entry of a list of DWARF 4 or earlier: pairs of offsets, terminated by a pair of zeros. If the first offset has
 * all bits set, the second offset is a new base.
 */
static int next_old_entry(struct di_list *list, struct di_entry *e)
{
	struct di_cursor *c = &list->c;

	while (!c->bad && di_spend(list->u->di, 1)) {
		e->low = di_take(c, 8);
		e->high = di_take(c, 8);
		if (c->bad)
			break;
		if (e->low == UINT64_MAX) {
			list->base = e->high;
			continue;
		}
		if (!e->low && !e->high)
			return 0;
		e->low += list->base;
		e->high += list->base;
		if (list->locations)
			take_expression(c, di_take(c, 2), e);
		return c->bad ? bad_list(list) : 1;
	}
	return bad_list(list);
}

int di_list_next(struct di_list *list, struct di_entry *entry)
{
	*entry = (struct di_entry){0};
	return list->u->head->version < 5 ? next_old_entry(list, entry) : next_entry(list, entry);
}

/*
 * Convert the index of a list to its offset. DW_AT_rnglists_base or DW_AT_loclists_base of the unit points to a table of
 * offsets, which are relative to the table.
 */
static bool offset_of(struct di_unit *u, const struct di_section *s, Dwarf_Half base_at, uint64_t number, uint64_t *offset)
{
	size_t width = u->head->wide ? 8 : 4;
	uint64_t base;

	*offset = 0;
	if (!di_offset_value(u, u->cu, base_at, &base) || base > s->size || number >= (s->size - base) / width)
		return false;
	memcpy(offset, s->bytes + base + number * width, width);
	*offset += base;
	return true;
}

int di_list_open(struct di_unit *u, Dwarf_Die die, Dwarf_Half at, struct di_list *list)
{
	static const char *const names[2][2] = {{".debug_ranges", ".debug_rnglists"}, {".debug_loc", ".debug_loclists"}};
	bool locations = at == DW_AT_location;
	struct di_section *s;
	Dwarf_Error e = NULL;
	Dwarf_Addr low = 0;
	uint64_t offset;
	Dwarf_Half form;

	form = di_form(u, die, at);
	if (!form || form == DW_FORM_exprloc || !di_offset_value(u, die, at, &offset))
		return u->di->err->code == EXIT_OK ? 0 : -1;
	s = di_file_section(&u->di->file, names[locations][u->head->version >= 5], u->di->err);
	if (!s)
		return u->di->err->code == EXIT_OK ? di_corrupt(u, "a list in a section that the file does not have", NULL)
						   : -1;
	if ((form == DW_FORM_rnglistx || form == DW_FORM_loclistx) &&
	    !offset_of(u, s, locations ? DW_AT_loclists_base : DW_AT_rnglists_base, offset, &offset))
		return di_corrupt(u, "the number of a list", NULL);
	if (offset >= s->size)
		return di_corrupt(u, "a list beyond its section", NULL);
	if (dwarf_lowpc(u->cu, &low, &e) == DW_DLV_ERROR)
		return di_corrupt(u, "its address", e);
	*list = (struct di_list){
		.u = u,
		.c = {.bytes = s->bytes, .at = offset, .end = s->size},
		.locations = locations,
		.base = low,
	};
	return 1;
}
