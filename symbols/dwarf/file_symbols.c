/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks up addresses in the ELF symbol table of a debug file. */
#include "symbols/dwarf/file.h"

#include <elf.h>
#include <string.h>

struct symbol_table {
	const struct di_section *symbols, *names;
	size_t count; /* Number of symbols. */
};

/* Find the symbol table and its names. Returns false if the file has no usable symbol table. */
static bool find_table(const struct di_file *f, struct symbol_table *t)
{
	for (size_t i = 1; i < f->count; i++) {
		const struct di_section *s = &f->sections[i];

		if (s->type != SHT_SYMTAB || !s->bytes || s->compressed || s->link_section >= f->count)
			continue;
		*t = (struct symbol_table){s, &f->sections[s->link_section], s->size / sizeof(Elf64_Sym)};
		/* The last name must end inside the section. */
		return t->names->bytes && !t->names->compressed && !t->names->bytes[t->names->size - 1];
	}
	return false;
}

/* Read symbol `i` and convert its value to a link address. Returns false if the symbol has no address. */
static bool read_symbol(const struct di_file *f, const struct symbol_table *t, size_t i, Elf64_Sym *sym)
{
	memcpy(sym, t->symbols->bytes + i * sizeof(*sym), sizeof(*sym));
	if (sym->st_shndx == SHN_UNDEF || sym->st_name >= t->names->size)
		return false;
	if (sym->st_shndx == SHN_ABS)
		return !f->relocatable;
	if (sym->st_shndx >= f->count || !f->sections[sym->st_shndx].alloc)
		return false;
	if (f->relocatable)
		sym->st_value += f->sections[sym->st_shndx].link;
	return true;
}

static const char *name_of(const struct symbol_table *t, const Elf64_Sym *sym)
{
	return (const char *)t->names->bytes + sym->st_name;
}

const char *di_file_function(const struct di_file *f, uint64_t addr)
{
	Elf64_Sym best = {0};
	bool found = false;
	struct symbol_table t;

	if (!find_table(f, &t))
		return NULL;
	for (size_t i = 1; i < t.count; i++) {
		Elf64_Sym sym;
		unsigned type;

		if (!read_symbol(f, &t, i, &sym) || sym.st_value > addr || (found && sym.st_value < best.st_value))
			continue;
		type = ELF64_ST_TYPE(sym.st_info);
		if (type != STT_FUNC && (type != STT_NOTYPE || !sym.st_size))
			continue;
		if (!found || sym.st_value > best.st_value || sym.st_size > best.st_size)
			best = sym;
		found = true;
	}
	/* A function in assembler often has a type but no size: such a function extends to the next function. */
	if (!found || (best.st_size && addr - best.st_value >= best.st_size))
		return NULL;
	return name_of(&t, &best);
}

size_t di_file_objects(const struct di_file *f, uint64_t addr, const char **names, size_t max, uint64_t *start)
{
	struct symbol_table t;
	size_t n = 0;

	if (!find_table(f, &t))
		return 0;
	for (size_t i = 1; i < t.count; i++) {
		unsigned type;
		Elf64_Sym sym;

		if (!read_symbol(f, &t, i, &sym) || addr - sym.st_value >= (sym.st_size ? sym.st_size : 1))
			continue;
		type = ELF64_ST_TYPE(sym.st_info);
		if ((type != STT_OBJECT && type != STT_NOTYPE) || (n && sym.st_value < *start))
			continue;
		if (n && sym.st_value > *start)
			n = 0;
		*start = sym.st_value;
		if (n < max)
			names[n++] = name_of(&t, &sym);
	}
	return n;
}

/*
 * Returns the name of the symbol to which the relocation at `offset` of the section refers, or NULL. Most calls in a module are
 * to functions of the kernel, which only the relocation of the call's operand names.
 */
static const char *relocated_name(const struct di_file *f, size_t section, uint64_t offset)
{
	struct symbol_table t;

	if (!find_table(f, &t))
		return NULL;
	for (size_t i = 1; i < f->count; i++) {
		const struct di_section *s = &f->sections[i];

		if (s->type != SHT_RELA || s->info_section != section || !s->bytes || s->compressed)
			continue;
		for (uint64_t at = 0; s->size - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
			Elf64_Rela r;
			Elf64_Sym sym;

			memcpy(&r, s->bytes + at, sizeof(r));
			if (r.r_offset != offset || ELF64_R_SYM(r.r_info) >= t.count)
				continue;
			memcpy(&sym, t.symbols->bytes + ELF64_R_SYM(r.r_info) * sizeof(sym), sizeof(sym));
			return sym.st_name < t.names->size ? name_of(&t, &sym) : NULL;
		}
	}
	return NULL;
}

const char *di_file_call(const struct di_file *f, uint64_t operand, uint64_t target)
{
	if (!f->relocatable)
		return di_file_function(f, target);
	for (size_t i = 1; i < f->count; i++) {
		if (f->sections[i].alloc && operand - f->sections[i].link < f->sections[i].size)
			return relocated_name(f, i, operand - f->sections[i].link);
	}
	return NULL;
}
