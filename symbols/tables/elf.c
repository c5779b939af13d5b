/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads .symtab and the build id of a vmlinux with libelf. The file is mapped, and only these sections are touched. */
#include <ctype.h>
#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <string.h>

#include "symbols/tables/symtab.h"
#include "symbols/tables/symtab_build.h"

struct sections {
	Elf_Scn *symtab;
	size_t strtab; /* index of the section with the symbols' names */
};

static int check_header(Elf *elf, const char *path, struct err *err)
{
	GElf_Ehdr ehdr;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr))
		return err_set(err, EXIT_INPUT, "%s: a broken ELF file: %s", path, elf_errmsg(-1));
	if (gelf_getclass(elf) != ELFCLASS64 || ehdr.e_machine != EM_X86_64)
		return err_set(err, EXIT_INPUT, "%s: an ELF file, but not for x86-64", path);
	if (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN)
		return err_set(err, EXIT_INPUT, "%s: an ELF file, but not a linked kernel; --symbols takes vmlinux", path);
	return 0;
}

static void note_build_id(Elf_Scn *scn, struct symtab_builder *b)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t pos = 0, name, desc;
	GElf_Nhdr note;

	if (!data || !data->d_buf)
		return;
	while ((pos = gelf_getnote(data, pos, &note, &name, &desc))) {
		const uint8_t *bytes = data->d_buf;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(bytes + name, "GNU", 4))
			symtab_builder_set_build_id(b, bytes + desc, note.n_descsz);
	}
}

static int scan_sections(Elf *elf, struct sections *s, struct symtab_builder *b, const char *path, struct err *err)
{
	GElf_Ehdr ehdr;
	size_t count;

	*s = (struct sections){0};
	/* If the section table lies beyond the end of the file, libelf reports 0 sections. */
	if (elf_getshdrnum(elf, &count) || !gelf_getehdr(elf, &ehdr) || (!count && ehdr.e_shoff))
		return err_set(err, EXIT_INPUT, "%s: section table missing or broken; is the file complete?", path);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr shdr;

		if (!gelf_getshdr(scn, &shdr))
			return err_set(err, EXIT_INPUT, "%s: section table truncated; is the file complete?", path);
		if (shdr.sh_type == SHT_SYMTAB) {
			s->symtab = scn;
			s->strtab = shdr.sh_link;
		} else if (shdr.sh_type == SHT_NOTE && shdr.sh_flags & SHF_ALLOC) {
			note_build_id(scn, b);
		}
	}
	if (!s->symtab)
		return err_set(err, EXIT_INPUT, "%s: no symbol table (stripped?); the -dbg package has the full vmlinux", path);
	return 0;
}

/* Returns the letter that nm(1) prints for a symbol, for the kinds of symbols that a kernel has. */
static char symbol_type(Elf *elf, const GElf_Sym *sym)
{
	bool global = GELF_ST_BIND(sym->st_info) == STB_GLOBAL;
	Elf_Scn *scn;
	GElf_Shdr shdr;
	char type;

	if (sym->st_shndx == SHN_ABS)
		return global ? 'A' : 'a';
	scn = elf_getscn(elf, sym->st_shndx);
	if (GELF_ST_BIND(sym->st_info) == STB_WEAK)
		return GELF_ST_TYPE(sym->st_info) == STT_OBJECT ? 'V' : 'W';
	if (!scn || !gelf_getshdr(scn, &shdr))
		return '?';
	if (shdr.sh_flags & SHF_EXECINSTR)
		type = 't';
	else if (shdr.sh_type == SHT_NOBITS)
		type = 'b';
	else if (shdr.sh_flags & SHF_WRITE)
		type = 'd';
	else
		type = shdr.sh_flags & SHF_ALLOC ? 'r' : 'n';
	return global ? (char)toupper(type) : type;
}

/*
 * Returns true if scripts/mksysmap of the kernel puts this symbol into System.map. With this filter, a vmlinux and a System.map
 * give the same names.
 */
static bool in_sysmap(const GElf_Sym *sym, const char *name)
{
	static const char *const noise[] = {".L", "__crc_", "__kstrtab"};
	unsigned type = GELF_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF || type == STT_SECTION || type == STT_FILE || !*name)
		return false;
	if (sym->st_shndx == SHN_ABS && GELF_ST_BIND(sym->st_info) == STB_LOCAL)
		return false;
	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++) {
		if (!strncmp(name, noise[i], strlen(noise[i])))
			return false;
	}
	return true;
}

static int read_symbols(Elf *elf, const struct sections *s, struct symtab_builder *b, const char *path, struct err *err)
{
	Elf_Data *data = elf_getdata(s->symtab, NULL);
	GElf_Sym sym;

	if (!data || !data->d_buf)
		return err_set(err, EXIT_INPUT, "%s: symbol table truncated; is the file complete?", path);
	for (int i = 1; gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, s->strtab, sym.st_name);

		if (!name)
			return err_set(err, EXIT_INPUT, "%s: symbol %d has no name in the file: corrupt", path, i);
		if (!in_sysmap(&sym, name))
			continue;
		if (!symtab_name_ok(name, strlen(name)))
			return err_set(err, EXIT_INPUT, "%s: symbol %d has no printable name: corrupt", path, i);
		if (symtab_builder_add(b, name, strlen(name), sym.st_value, sym.st_size, symbol_type(elf, &sym), err))
			return -1;
	}
	return 0;
}

struct symtab *symtab_from_elf(int fd, const char *path, struct err *err)
{
	struct symtab_builder *b = symtab_builder_new();
	struct symtab *st = NULL;
	struct sections s;
	Elf *elf = NULL;

	if (!b) {
		err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
		goto out;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf) {
		err_set(err, EXIT_INPUT, "%s: a broken ELF file: %s", path, elf_errmsg(-1));
		goto out;
	}
	if (check_header(elf, path, err) || scan_sections(elf, &s, b, path, err) || read_symbols(elf, &s, b, path, err))
		goto out;
	st = symtab_builder_finish(b, err);
	b = NULL;
out:
	elf_end(elf);
	symtab_builder_free(b);
	return st;
}
