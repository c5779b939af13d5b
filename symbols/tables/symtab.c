/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks up symbols: by address in the entries, which are sorted by address, and by name in a hash table with open addressing.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/fnv1a.h"
#include "hv/base/x86.h"
#include "symbols/tables/symtab.h"
#include "symbols/tables/symtab_table.h"

/*
 * A lookup probes at most this many slots. The limit bounds the cost of names that a hostile guest made to collide. Real
 * kernels need far fewer probes.
 */
#define MAX_PROBES 1024

void symtab_free(struct symtab *st)
{
	if (!st)
		return;
	free(st->entries);
	free(st->names);
	free(st->hash);
	free(st);
}

size_t symtab_hash_slot(const struct symtab *st, const char *name)
{
	uint64_t hash = fnv1a(FNV1A_START, name);
	size_t mask = st->hash_size - 1, slot = (hash ^ hash >> 32) & mask;

	for (size_t probes = 0; probes < MAX_PROBES; probes++, slot = (slot + 1) & mask) {
		if (!st->hash[slot] || !strcmp(st->names + st->entries[st->hash[slot] - 1].name, name))
			return slot;
	}
	return st->hash_size;
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

/* Returns true if KASLR moves the symbol. Absolute and per-CPU symbols keep their addresses. */
static bool slides(const struct symtab_entry *e)
{
	return e->type != 'A' && e->type != 'a';
}

static void to_symbol(const struct symtab *st, const struct symtab_entry *e, struct symbol *out)
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
	size_t slot = symtab_hash_slot(st, name);

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

/*
 * Returns true if linker scripts or build tools give this name to an address where another symbol begins
 * (include/asm-generic/vmlinux.lds.h).
 */
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

/* Returns how well a symbol names its address in a report, compared with other symbols at that address. Higher is better. */
static unsigned preference(const struct symtab *st, const struct symtab_entry *e)
{
	bool text = e->type == 't' || e->type == 'T';

	return (is_marker(st->names + e->name) ? 0 : 8) + (e->sized ? 4 : 0) + (text || e->type == 'W' ? 2 : 0) +
	       (isupper((unsigned char)e->type) && e->type != 'W' ? 1 : 0);
}

/* Returns the number of entries whose link-time address is at most `addr`. */
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

void symtab_choose_names(struct symtab *st)
{
	uint32_t best = 0;
	unsigned best_preference = 0;
	uint64_t group = 0;

	for (size_t i = 0; i < st->count; i++) {
		struct symtab_entry *e = &st->entries[i];
		bool kernel = x86_kernel_address(e->addr);
		unsigned p = preference(st, e);

		if (best && kernel != x86_kernel_address(group))
			best = 0;
		/*
		 * In the kernel half, only a symbol that KASLR moves names addresses. An address at or after another symbol,
		 * such as an absolute one, is named by the last symbol before it that KASLR moves.
		 */
		if (slides(e) == kernel && (!best || e->addr != group || p > best_preference)) {
			best = (uint32_t)i + 1;
			best_preference = p;
			group = e->addr;
		}
		e->named_by = best;
	}
}

int symtab_at(const struct symtab *st, uint64_t addr, struct symbol *out)
{
	bool kernel = x86_kernel_address(addr);
	uint64_t link = addr - (kernel ? st->slide : 0);
	size_t below = upper_bound(st, link);
	uint32_t by = below ? st->entries[below - 1].named_by : 0;
	const struct symtab_entry *best = by ? &st->entries[by - 1] : NULL;

	if (!best || x86_kernel_address(best->addr) != kernel || (link != best->addr && link - best->addr >= best->size))
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
