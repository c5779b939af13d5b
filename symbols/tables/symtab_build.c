/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects symbols in a builder, and sorts and indexes them into a symtab. */
#include "symbols/tables/symtab_build.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/order.h"
#include "hv/base/x86.h"
#include "symbols/tables/symtab.h"
#include "symbols/tables/symtab_table.h"

struct symtab_builder {
	struct symtab *st;
	size_t capacity;       /* entries that st->entries can hold */
	size_t names_capacity; /* bytes that st->names can hold */
};

struct symtab_builder *symtab_builder_new(void)
{
	struct symtab_builder *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->st = calloc(1, sizeof(*b->st));
	if (!b->st) {
		free(b);
		return NULL;
	}
	return b;
}

void symtab_builder_free(struct symtab_builder *b)
{
	if (!b)
		return;
	symtab_free(b->st);
	free(b);
}

/* Grow *array to at least `need` elements of `size` bytes. */
static int grow(void **array, size_t *capacity, size_t need, size_t size)
{
	size_t want = *capacity ? *capacity : 1024;
	void *bigger;

	if (need <= *capacity)
		return 0;
	while (want < need)
		want *= 2;
	bigger = reallocarray(*array, want, size);
	if (!bigger)
		return -1;
	*array = bigger;
	*capacity = want;
	return 0;
}

/*
 * Returns true for 1 to SYMTAB_MAX_NAME - 1 printable ASCII characters other than blanks. Names come from the guest, and are
 * printed on terminals and in reports.
 */
bool symtab_name_ok(const char *name, size_t len)
{
	if (!len || len >= SYMTAB_MAX_NAME)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	}
	return true;
}

int symtab_builder_add(struct symtab_builder *b, const char *name, size_t len, uint64_t addr, uint64_t size, char type,
		       struct err *err)
{
	struct symtab *st = b->st;
	void *entries = st->entries, *names = st->names;

	if (!symtab_name_ok(name, len))
		return err_set(err, EXIT_INPUT, "symbols: symbol %zu has no printable name: the symbols are corrupt",
			       st->count);
	if (st->count >= SYMTAB_MAX_SYMBOLS)
		return err_set(err, EXIT_INPUT, "symbols: more than %u symbols: not a kernel's", SYMTAB_MAX_SYMBOLS);
	if (len + 1 > SYMTAB_MAX_NAMES - st->names_len)
		return err_set(err, EXIT_INPUT, "symbols: more than %u MiB of names: not a kernel's", SYMTAB_MAX_NAMES >> 20);
	if (grow(&entries, &b->capacity, st->count + 1, sizeof(*st->entries)))
		return err_set(err, EXIT_INTERNAL, "symbols: out of memory");
	st->entries = entries;
	if (grow(&names, &b->names_capacity, st->names_len + len + 1, 1))
		return err_set(err, EXIT_INTERNAL, "symbols: out of memory");
	st->names = names;
	memcpy(st->names + st->names_len, name, len);
	st->names[st->names_len + len] = '\0';
	if (!x86_kernel_address(addr))
		type = isupper((unsigned char)type) ? 'A' : 'a';
	st->entries[st->count] = (struct symtab_entry){
		.addr = addr,
		.size = size,
		.name = (uint32_t)st->names_len,
		.order = (uint32_t)st->count,
		.type = type,
		.sized = size != 0,
	};
	st->count++;
	st->names_len += len + 1;
	return 0;
}

void symtab_builder_set_build_id(struct symtab_builder *b, const uint8_t *id, size_t len)
{
	if (len > sizeof(b->st->build_id))
		return;
	memcpy(b->st->build_id, id, len);
	b->st->build_id_len = len;
}

static int by_address_and_order(const void *left, const void *right)
{
	const struct symtab_entry *a = left, *b = right;
	int order = order_u64(a->addr, b->addr);

	return order ? order : order_u64(a->order, b->order);
}

/* Give an entry without a size the distance to the next symbol at a higher address. */
static void guess_sizes(struct symtab *st)
{
	uint64_t next = 0;

	for (size_t i = st->count; i-- > 0;) {
		struct symtab_entry *e = &st->entries[i];

		if (i + 1 < st->count && st->entries[i + 1].addr != e->addr)
			next = st->entries[i + 1].addr;
		if (!e->sized && next)
			e->size = next - e->addr;
	}
}

/* Index the names in address order, so that a lookup of a name of several symbols finds the one with the lowest address. */
static int index_names(struct symtab *st, struct err *err)
{
	st->hash_size = 16;
	while (st->hash_size < st->count * 2)
		st->hash_size *= 2;
	st->hash = calloc(st->hash_size, sizeof(*st->hash));
	if (!st->hash)
		return err_set(err, EXIT_INTERNAL, "symbols: out of memory");
	for (size_t i = 0; i < st->count; i++) {
		size_t slot = symtab_hash_slot(st, st->names + st->entries[i].name);

		if (slot == st->hash_size)
			return err_set(err, EXIT_INPUT,
				       "symbols: too many names have the same hash: these are not the symbols of a kernel");
		if (!st->hash[slot])
			st->hash[slot] = (uint32_t)i + 1;
	}
	return 0;
}

struct symtab *symtab_builder_finish(struct symtab_builder *b, struct err *err)
{
	struct symtab *st = b->st;

	b->st = NULL;
	symtab_builder_free(b);
	if (st->count)
		qsort(st->entries, st->count, sizeof(*st->entries), by_address_and_order);
	guess_sizes(st);
	symtab_choose_names(st);
	if (index_names(st, err)) {
		symtab_free(st);
		return NULL;
	}
	return st;
}

struct symtab *symtab_from_array(const struct symbol *symbols, size_t n, struct err *err)
{
	struct symtab_builder *b = symtab_builder_new();

	if (!b) {
		err_set(err, EXIT_INTERNAL, "symbols: out of memory");
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		const struct symbol *s = &symbols[i];

		if (symtab_builder_add(b, s->name, strlen(s->name), s->addr, s->size, s->type, err)) {
			symtab_builder_free(b);
			return NULL;
		}
	}
	return symtab_builder_finish(b, err);
}
