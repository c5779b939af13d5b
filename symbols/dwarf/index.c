/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the units by following their headers (section 7.5.1 of DWARF 5 and of DWARF 4). The content of a unit is not read. */
#include "symbols/dwarf/index.h"

#include <stdlib.h>

#include "symbols/dwarf/cursor.h"

#define MAX_UNITS (1u << 20) /* bounds the memory that a hostile file can cost */

/* Read the header at c->at, and move c->at to the next header. Returns false if the header is invalid. */
static bool read_head(struct di_cursor *c, bool types, struct di_head *head)
{
	uint64_t start = c->at, end = c->end, kind = DW_UT_compile;
	size_t width;

	if (!di_enter(c, &width))
		return false;
	*head = (struct di_head){.offset = start, .length = c->end - start, .wide = width == 8};
	head->version = (uint8_t)di_take(c, 2);
	if (head->version >= 5)
		kind = di_take(c, 1);
	/* Skip the abbreviations' offset and the address size, whose order depends on the version. */
	di_skip(c, width + 1);
	if (types || kind == DW_UT_type) {
		head->signature = di_take(c, 8);
		head->type_offset = di_take(c, width);
	}
	if (c->bad || head->version < 2 || head->version > 5)
		return false;
	c->at = c->end;
	c->end = end;
	return true;
}

static int add_head(struct debuginfo *di, const struct di_head *head, size_t *room)
{
	if (di->n_heads == *room) {
		size_t more = *room ? *room * 2 : 64;
		struct di_head *heads = more > MAX_UNITS ? NULL : realloc(di->heads, more * sizeof(*heads));

		if (!heads)
			return di_memory(di);
		di->heads = heads;
		*room = more;
	}
	di->heads[di->n_heads++] = *head;
	return 0;
}

/*
 * Add the headers of all units in a section; `mark` is a bit added to their places. Stops at an invalid header: units after it
 * cannot be found, but units before it are usable.
 */
static int index_section(struct debuginfo *di, const char *name, uint64_t mark, size_t *room)
{
	struct di_section *s = di_file_section(&di->file, name, di->err);
	struct di_cursor c;

	if (!s)
		return di->err->code == EXIT_OK ? 0 : -1;
	c = (struct di_cursor){.bytes = s->bytes, .end = s->size};
	while (c.at < c.end) {
		struct di_head head;

		if (!read_head(&c, mark != 0, &head))
			break;
		head.offset |= mark;
		if (add_head(di, &head, room))
			return -1;
	}
	return 0;
}

int di_index(struct debuginfo *di)
{
	size_t room = 0;

	if (!di->indexed) {
		di->indexed = true;
		if (index_section(di, ".debug_info", 0, &room) || index_section(di, ".debug_types", DI_IN_TYPES, &room))
			return -1;
		/* Walking the headers touched a few bytes in every few pages. Drop those pages. */
		di_file_release(&di->file);
	}
	if (!di->n_heads)
		return err_set(di->err, EXIT_INPUT, "%s: .debug_info holds no unit: corrupt", di->file.path);
	return 0;
}

struct di_head *di_head_at(struct debuginfo *di, uint64_t offset)
{
	size_t n = di_bisect(di->heads, di->n_heads, sizeof(*di->heads), offset);

	return n && offset - di->heads[n - 1].offset < di->heads[n - 1].length ? &di->heads[n - 1] : NULL;
}

const struct di_head *di_type_unit(struct debuginfo *di, uint64_t signature)
{
	for (size_t i = 0; i < di->n_heads; i++) {
		if (di->heads[i].type_offset && di->heads[i].signature == signature)
			return &di->heads[i];
	}
	err_set(di->err, EXIT_INPUT, "%s: a type unit is missing: corrupt, or incomplete", di->file.path);
	return NULL;
}
