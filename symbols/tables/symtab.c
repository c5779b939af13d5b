/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table itself: entries in address order, and a hash table of their names with open addressing. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/fnv1a.h"
#include "hv/base/order.h"
#include "hv/base/x86.h"
#include "symbols/tables/symtab.h"
#include "symbols/tables/symtab_build.h"

/* The slots that one lookup goes through. The names of a real kernel need far fewer. */
#define MAX_PROBES 1024

struct entry {
	uint64_t addr;	/* link-time GVA */
	uint64_t size;	/* bytes; 0 when not known, as for the last symbol of a source without sizes */
	uint32_t name;	/* offset in names[] */
	uint32_t order; /* how many symbols were added before it */
	char type;	/* the letter of nm(1) */
	bool sized;	/* the source gave the size */
};

struct symtab {
	struct entry *entries;
	size_t count;
	char *names; /* one behind the other, each with its NUL */
	size_t names_len;
	uint32_t *hash;	  /* the index of an entry plus 1; 0 marks an empty slot */
	size_t hash_size; /* slots: a power of two, larger than count */
	uint64_t slide;
	uint8_t build_id[SYMTAB_MAX_BUILD_ID];
	size_t build_id_len;
};

struct symtab_builder {
	struct symtab *st;
	size_t capacity;       /* entries that st->entries has room for */
	size_t names_capacity; /* bytes that st->names has room for */
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

void symtab_free(struct symtab *st)
{
	if (!st)
		return;
	free(st->entries);
	free(st->names);
	free(st->hash);
	free(st);
}

/* Grow *array to hold `need` elements of `size` bytes. */
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

/* Names go to terminals and reports, where a guest must not be able to put control characters. */
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
	st->entries[st->count] = (struct entry){
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
	const struct entry *a = left, *b = right;
	int order = order_u64(a->addr, b->addr);

	return order ? order : order_u64(a->order, b->order);
}

/* An entry without a size reaches up to the next symbol at another address. */
static void guess_sizes(struct symtab *st)
{
	uint64_t next = 0;

	for (size_t i = st->count; i-- > 0;) {
		struct entry *e = &st->entries[i];

		if (i + 1 < st->count && st->entries[i + 1].addr != e->addr)
			next = st->entries[i + 1].addr;
		if (!e->sized && next)
			e->size = next - e->addr;
	}
}

/* The slot of `name`, or the empty slot that it would take; hash_size when MAX_PROBES slots are taken by other names. */
static size_t hash_slot(const struct symtab *st, const char *name)
{
	uint64_t hash = fnv1a(FNV1A_START, name);
	size_t mask = st->hash_size - 1, slot = (hash ^ hash >> 32) & mask;

	for (size_t probes = 0; probes < MAX_PROBES; probes++, slot = (slot + 1) & mask) {
		if (!st->hash[slot] || !strcmp(st->names + st->entries[st->hash[slot] - 1].name, name))
			return slot;
	}
	return st->hash_size;
}

/* Index the names in address order, so that of several symbols with one name the first is found. */
static int index_names(struct symtab *st, struct err *err)
{
	st->hash_size = 16;
	while (st->hash_size < st->count * 2)
		st->hash_size *= 2;
	st->hash = calloc(st->hash_size, sizeof(*st->hash));
	if (!st->hash)
		return err_set(err, EXIT_INTERNAL, "symbols: out of memory");
	for (size_t i = 0; i < st->count; i++) {
		size_t slot = hash_slot(st, st->names + st->entries[i].name);

		if (slot == st->hash_size)
			return err_set(err, EXIT_INPUT, "symbols: names made to collide: these are not a kernel's symbols");
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

void symtab_set_slide(struct symtab *st, uint64_t slide)
{
	st->slide = slide;
}

size_t symtab_build_id(const struct symtab *st, const uint8_t **id)
{
	*id = st->build_id;
	return st->build_id_len;
}

/* Absolute and per-CPU symbols stay at their addresses when KASLR moves the kernel. */
static bool slides(const struct entry *e)
{
	return e->type != 'A' && e->type != 'a';
}

static void to_symbol(const struct symtab *st, const struct entry *e, struct symbol *out)
{
	*out = (struct symbol){
		.name = st->names + e->name,
		.addr = e->addr + (slides(e) ? st->slide : 0),
		.size = e->size,
		.type = e->type,
	};
}

int symtab_find(const struct symtab *st, const char *name, struct symbol *out)
{
	size_t slot = hash_slot(st, name);

	if (slot == st->hash_size || !st->hash[slot])
		return -1;
	to_symbol(st, &st->entries[st->hash[slot] - 1], out);
	return 0;
}

uint64_t symtab_addr(const struct symtab *st, const char *name)
{
	struct symbol sym;

	return symtab_find(st, name, &sym) ? 0 : sym.addr;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* Whether linker scripts and build tools put this name where something else begins (include/asm-generic/vmlinux.lds.h). */
static bool is_marker(const char *name)
{
	static const char *const prefixes[] = {"__start_", "__stop_", "__pfx_", "__cfi_", "__kstrtab", "__ksymtab", "__pi_"};
	static const char *const suffixes[] = {"_start", "_end", "_begin", "_text", "stext", "etext", "sinittext", "einittext"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	for (size_t i = 0; name[0] == '_' && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (ends_with(name, suffixes[i]))
			return true;
	}
	return false;
}

/* How likely a person is to call what is at an address by this symbol, of several there; more is better. */
static unsigned preference(const struct symtab *st, const struct entry *e)
{
	bool text = e->type == 't' || e->type == 'T';

	return (is_marker(st->names + e->name) ? 0 : 8) + (e->sized ? 4 : 0) + (text || e->type == 'W' ? 2 : 0) +
	       (isupper((unsigned char)e->type) && e->type != 'W' ? 1 : 0);
}

/* How many entries have a link-time address of `addr` or less. */
static size_t upper_bound(const struct symtab *st, uint64_t addr)
{
	size_t low = 0, high = st->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (st->entries[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int symtab_at(const struct symtab *st, uint64_t addr, struct symbol *out)
{
	bool kernel = x86_kernel_address(addr);
	uint64_t link = addr - (kernel ? st->slide : 0), group = 0;
	const struct entry *best = NULL;

	for (size_t i = upper_bound(st, link); i-- > 0;) {
		const struct entry *e = &st->entries[i];

		if ((best && e->addr != group) || (kernel && !x86_kernel_address(e->addr)))
			break;
		if (slides(e) != kernel)
			continue;
		group = e->addr;
		if (!best || preference(st, e) >= preference(st, best))
			best = e;
	}
	if (!best || (link != best->addr && link - best->addr >= best->size))
		return -1;
	to_symbol(st, best, out);
	return 0;
}

size_t symtab_bytes(const struct symtab *st)
{
	return st->count * sizeof(*st->entries) + st->hash_size * sizeof(*st->hash) + st->names_len;
}

size_t symtab_count(const struct symtab *st)
{
	return st->count;
}

void symtab_get(const struct symtab *st, size_t index, struct symbol *out)
{
	to_symbol(st, &st->entries[index], out);
}
