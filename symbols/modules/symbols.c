/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a module's symbols, which the kernel keeps for kallsyms (kernel/module/kallsyms.c) as ELF symbols with absolute values.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/x86.h"
#include "symbols/modules/layout.h"
#include "symbols/modules/modules.h"
#include "symbols/tables/symtab_build.h"

#define MAX_SYMBOLS (1u << 20)	/* at most this many symbols of a module: bounds the memory that a hostile guest can cost */
#define MAX_STRINGS (64u << 20) /* bytes of all symbol names of a module: bounds the memory that a hostile guest can cost */

/* Host copies of the guest's tables. */
struct tables {
	Elf64_Sym *symbols;
	char *types;	/* the nm(1) letter of each symbol */
	char *strings;	/* strings_len bytes and a NUL */
	uint32_t count; /* symbols */
	size_t strings_len;
};

/* The content of a struct mod_kallsyms. */
struct pointers {
	uint64_t symtab, strtab, typetab; /* GVAs */
	uint32_t count;			  /* symbols */
};

static int read_kallsyms_member(const struct guest_reader *reader, const struct btf *btf, uint64_t base, const char *name,
				uint64_t *v)
{
	struct btf_member m;

	*v = 0;
	if (btf_member(btf, "mod_kallsyms", name, &m) || m.size > sizeof(*v))
		return -1;
	return reader->read(reader->ctx, base + m.offset, v, m.size);
}

/*
 * Find the struct mod_kallsyms with the symbols that the module keeps. struct module has it as a member, which the kernel fills
 * before the module's init function runs (add_kallsyms() in kernel/module/kallsyms.c). The pointer `kallsyms` leads to it only
 * some time after the module is live, and until then to a table that the kernel frees.
 */
static int find_kallsyms(const struct guest_reader *reader, const struct module_layout *layout, uint64_t module, uint64_t *gva)
{
	*gva = module + layout->core_kallsyms.offset;
	if (layout->core_kallsyms.size)
		return 0;
	return layout->kallsyms.size == sizeof(*gva)
		       ? reader->read(reader->ctx, module + layout->kallsyms.offset, gva, sizeof(*gva))
		       : -1;
}

static int read_pointers(const struct guest_reader *reader, const struct btf *btf, const struct module_info *module,
			 struct pointers *p, struct err *err)
{
	struct module_layout layout;
	uint64_t kallsyms, count;

	if (module_layout_find(btf, &layout, err))
		return -1;
	if (find_kallsyms(reader, &layout, module->addr, &kallsyms) ||
	    read_kallsyms_member(reader, btf, kallsyms, "symtab", &p->symtab) ||
	    read_kallsyms_member(reader, btf, kallsyms, "num_symtab", &count) ||
	    read_kallsyms_member(reader, btf, kallsyms, "strtab", &p->strtab) ||
	    read_kallsyms_member(reader, btf, kallsyms, "typetab", &p->typetab) || !count || count > MAX_SYMBOLS)
		return err_set(err, EXIT_INPUT, "module %s: no symbols in the guest's memory; was it unloaded?", module->name);
	p->count = (uint32_t)count;
	return 0;
}

/*
 * The kernel does not store the length of the string table. An upper bound is the offset of the last name plus the longest name
 * allowed. Read page by page up to that bound, and stop at the first unmapped page.
 */
static int read_strings(const struct guest_reader *reader, uint64_t strtab, struct tables *t)
{
	uint32_t last = 0;
	size_t len;

	for (uint32_t i = 0; i < t->count; i++) {
		if (t->symbols[i].st_name > last)
			last = t->symbols[i].st_name;
	}
	if (last > MAX_STRINGS)
		return -1;
	len = (size_t)last + SYMTAB_MAX_NAME;
	t->strings = calloc(1, len + 1);
	if (!t->strings)
		return -1;
	while (t->strings_len < len) {
		uint64_t at = strtab + t->strings_len;
		size_t n = X86_PAGE_SIZE - at % X86_PAGE_SIZE;

		if (n > len - t->strings_len)
			n = len - t->strings_len;
		if (reader->read(reader->ctx, at, t->strings + t->strings_len, n))
			break;
		t->strings_len += n;
	}
	/* A failed read may have left garbage after the last good page. */
	memset(t->strings + t->strings_len, 0, len + 1 - t->strings_len);
	return t->strings_len > last ? 0 : -1;
}

static int copy_tables(const struct guest_reader *reader, const struct pointers *p, struct tables *t)
{
	t->count = p->count;
	t->symbols = calloc(p->count, sizeof(*t->symbols));
	t->types = calloc(p->count, 1);
	if (!t->symbols || !t->types)
		return -1;
	if (reader->read(reader->ctx, p->symtab, t->symbols, p->count * sizeof(*t->symbols)) ||
	    reader->read(reader->ctx, p->typetab, t->types, p->count))
		return -1;
	return read_strings(reader, p->strtab, t);
}

/*
 * Returns true if the symbol only marks a place or a number: a constant, or data without a size, such as the __kstrtab_ of an
 * exported name. The symtab would take the distance to the next symbol for the size of such data, which is wrong, because the
 * sections of a module can be far apart.
 */
static bool is_mark(const Elf64_Sym *sym, char type)
{
	bool text = type == 't' || type == 'T' || type == 'w' || type == 'W';

	return sym->st_shndx == SHN_ABS || (!sym->st_size && !text);
}

static int add_symbols(const struct tables *t, struct symtab_builder *b, struct err *err)
{
	for (uint32_t i = 0; i < t->count; i++) {
		const Elf64_Sym *sym = &t->symbols[i];
		const char *name = t->strings + sym->st_name;
		size_t len = strnlen(name, t->strings_len - sym->st_name);
		char type = t->types[i];

		/* Skip an invalid name: the module's table may change during the read. */
		if (sym->st_shndx == SHN_UNDEF || !sym->st_value || !symtab_name_ok(name, len))
			continue;
		if ((type < 'A' || type > 'Z') && (type < 'a' || type > 'z'))
			type = '?';
		if (is_mark(sym, type))
			continue;
		if (symtab_builder_add(b, name, len, sym->st_value, sym->st_size, type, err))
			return -1;
	}
	return 0;
}

struct symtab *module_symbols(const struct guest_reader *reader, const struct btf *btf, const struct module_info *module,
			      struct err *err)
{
	struct symtab_builder *b = NULL;
	struct symtab *st = NULL;
	struct tables t = {0};
	struct pointers p;

	if (read_pointers(reader, btf, module, &p, err))
		return NULL;
	if (copy_tables(reader, &p, &t)) {
		err_set(err, EXIT_INPUT, "module %s: symbols at %#" PRIx64 " cannot be read; was it unloaded?", module->name,
			p.symtab);
		goto out;
	}
	b = symtab_builder_new();
	if (!b) {
		err_set(err, EXIT_INTERNAL, "module %s: out of memory", module->name);
		goto out;
	}
	if (add_symbols(&t, b, err))
		goto out;
	st = symtab_builder_finish(b, err);
	b = NULL;
out:
	symtab_builder_free(b);
	free(t.symbols);
	free(t.types);
	free(t.strings);
	return st;
}
