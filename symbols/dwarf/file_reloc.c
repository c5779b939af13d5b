/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies the relocations of a module's debug sections (x86-64 psABI, table 4.9). They refer to other debug sections, whose
 * link address is 0, and to code and data, whose link addresses di_file_open() has assigned. The relocated value is symbol plus
 * addend; the old content of the section is ignored.
 */
#include <elf.h>
#include <string.h>

#include "symbols/dwarf/file.h"

/* Returns the value of a symbol, or 0 for an undefined symbol: linkers also write 0 for discarded sections. */
static uint64_t symbol_value(const struct di_file *f, const struct di_section *symtab, uint32_t index)
{
	Elf64_Sym sym;

	if (!symtab->bytes || index >= symtab->size / sizeof(sym))
		return 0;
	memcpy(&sym, symtab->bytes + index * sizeof(sym), sizeof(sym));
	if (sym.st_shndx == SHN_ABS)
		return sym.st_value;
	if (sym.st_shndx == SHN_UNDEF || sym.st_shndx >= f->count)
		return 0;
	return f->sections[sym.st_shndx].link + sym.st_value;
}

static void apply_relocation(const struct di_file *f, const struct di_section *target, const struct di_section *symtab,
			     const Elf64_Rela *r)
{
	uint64_t value = symbol_value(f, symtab, ELF64_R_SYM(r->r_info)) + (uint64_t)r->r_addend;
	size_t width;

	switch (ELF64_R_TYPE(r->r_info)) {
	case R_X86_64_64:
		width = 8;
		break;
	case R_X86_64_32:
	case R_X86_64_32S:
		width = 4;
		break;
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
		value -= target->link + r->r_offset;
		width = 4;
		break;
	default: /* Other kinds occur neither in debug sections nor in references from code to variables. */
		return;
	}
	if (r->r_offset < target->size && target->size - r->r_offset >= width)
		memcpy(target->bytes + r->r_offset, &value, width);
}

int di_file_relocate(struct di_file *f, size_t index, struct err *err)
{
	struct di_section *target = &f->sections[index];

	for (size_t i = 1; i < f->count; i++) {
		const struct di_section *s = &f->sections[i];

		if (s->type != SHT_RELA || s->info_section != index || !s->bytes)
			continue;
		if (s->link_section >= f->count || s->compressed)
			return err_set(err, EXIT_INPUT, "%s: section %s is broken", f->path, s->name);
		for (uint64_t at = 0; s->size - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
			Elf64_Rela r;

			memcpy(&r, s->bytes + at, sizeof(r));
			apply_relocation(f, target, &f->sections[s->link_section], &r);
		}
	}
	return 0;
}
