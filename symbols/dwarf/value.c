/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debuginfo_value(): formats a value according to its type. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "symbols/dwarf/die.h"
#include "symbols/dwarf/query.h"
#include "symbols/dwarf/type.h"
#include "symbols/dwarf/unit.h"

struct scalar {
	Dwarf_Half tag;
	uint64_t encoding; /* For a base type: DW_ATE_*. */
	uint64_t size;	   /* Bytes. */
	uint64_t value;
	const char *enumerator;		 /* The enumerator equal to the value. NULL: there is none. */
	char flags[DEBUGINFO_VALUE_MAX]; /* The one-bit enumerators set in the value: "A|B". */
	uint64_t named;			 /* Bits that `flags` names. */
};

static void add_flag(struct scalar *s, uint64_t bit, const char *name)
{
	size_t used = strlen(s->flags);

	if (!name || (s->named & bit) || used + strlen(name) + 2 > sizeof(s->flags))
		return;
	snprintf(s->flags + used, sizeof(s->flags) - used, "%s%s", used ? "|" : "", name);
	s->named |= bit;
}

static int look_at_enumerator(struct di_unit *u, Dwarf_Die child, Dwarf_Half tag, void *ctx)
{
	struct scalar *s = ctx;
	uint64_t bits = s->size < 8 ? (1ull << s->size * 8) - 1 : UINT64_MAX, value;

	if (tag != DW_TAG_enumerator || !di_number(u, child, DW_AT_const_value, &value))
		return 0;
	value &= bits;
	if (value && !(value & (value - 1)) && (s->value & value))
		add_flag(s, value, di_string(u, child, DW_AT_name));
	if (value != s->value)
		return 0;
	s->enumerator = di_string(u, child, DW_AT_name);
	return 1;
}

/* Read the type and, for an enumeration, the enumerators that make up s->value. */
static int read_scalar(struct debuginfo *di, uint64_t where, struct scalar *s)
{
	struct di_type type;
	struct di_unit *u;
	Dwarf_Die die;
	int status = 0;

	if (di_type(di, where, &type))
		return -1;
	s->tag = type.tag;
	s->size = type.size;
	if (!type.where)
		return 0;
	if (di_die_at(di, type.where, &u, &die))
		return -1;
	if (type.tag == DW_TAG_base_type)
		di_number(u, die, DW_AT_encoding, &s->encoding);
	else if (type.tag == DW_TAG_enumeration_type)
		status = di_children(u, die, look_at_enumerator, s) < 0 ? -1 : 0;
	dwarf_dealloc_die(die);
	return status;
}

/* Extract the value from the bytes of an access. Returns false if the bytes do not contain the whole value. */
static bool take_value(const struct debuginfo_datum *d, const uint8_t *bytes, size_t size, uint64_t *value)
{
	uint64_t bits = d->bit_size ? d->bit_offset + (uint64_t)d->bit_size : d->size * 8;

	*value = 0;
	if (d->rest || !bits || bits > 64 || (bits + 7) / 8 > size || !d->type_id)
		return false;
	memcpy(value, bytes, (bits + 7) / 8);
	*value >>= d->bit_offset;
	bits -= d->bit_offset;
	if (bits < 64)
		*value &= (1ull << bits) - 1;
	return true;
}

static void write_signed(uint64_t value, unsigned bits, char *text)
{
	uint64_t sign = 1ull << (bits - 1);

	snprintf(text, DEBUGINFO_VALUE_MAX, "%ld", (long)((value ^ sign) - sign));
}

/* Write the value to `text`. Returns 1, or 0 for a type whose values are not printed. */
static int write_scalar(const struct scalar *s, unsigned bits, char *text)
{
	bool number = s->tag == DW_TAG_base_type && (s->encoding == DW_ATE_signed || s->encoding == DW_ATE_signed_char);
	bool character = s->encoding == DW_ATE_signed_char || s->encoding == DW_ATE_unsigned_char;

	if (s->tag != DW_TAG_base_type && s->tag != DW_TAG_enumeration_type && s->tag != DW_TAG_pointer_type)
		return 0;
	if (s->encoding == DW_ATE_float || s->encoding == DW_ATE_complex_float)
		return 0;
	if (s->enumerator)
		snprintf(text, DEBUGINFO_VALUE_MAX, "%.90s", s->enumerator);
	else if (s->named && s->named == s->value)
		snprintf(text, DEBUGINFO_VALUE_MAX, "%s", s->flags);
	else if (s->encoding == DW_ATE_boolean && s->value <= 1)
		snprintf(text, DEBUGINFO_VALUE_MAX, "%s", s->value ? "true" : "false");
	else if (character && s->value < 0x80 && isprint((int)s->value))
		snprintf(text, DEBUGINFO_VALUE_MAX, "'%c'", (char)s->value);
	else if (number)
		write_signed(s->value, bits, text);
	else
		snprintf(text, DEBUGINFO_VALUE_MAX, s->value < 10 ? "%lu" : "0x%lx", (unsigned long)s->value);
	return 1;
}

int debuginfo_value(struct debuginfo *di, const struct debuginfo_datum *datum, const uint8_t *bytes, size_t size,
		    char text[DEBUGINFO_VALUE_MAX], bool *is_pointer, struct err *err)
{
	struct scalar s = {0};
	struct di_query query;
	int n = 0;

	*text = '\0';
	*is_pointer = false;
	if (!take_value(datum, bytes, size, &s.value))
		return 0;
	di_begin(di, &query, err);
	if (!di_index(di) && !read_scalar(di, datum->type_id, &s)) {
		n = write_scalar(&s, datum->bit_size ? datum->bit_size : (unsigned)datum->size * 8, text);
		*is_pointer = s.tag == DW_TAG_pointer_type;
	}
	return di_end(di, &query, n);
}
