/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a small vmlinux: headers, four empty sections, a build id, symbols. */
#ifndef OUTRIDER_TESTS_UNIT_TEST_SYM_ELF_MAKER_H
#define OUTRIDER_TESTS_UNIT_TEST_SYM_ELF_MAKER_H

#include <elf.h>

#include "tests/unit/symbols/blob.h"

#define MADE_BUILD_ID "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef\xde\xad\xbe\xef"

enum { MADE_TEXT = 1, MADE_DATA, MADE_RODATA, MADE_BSS, MADE_NOTES, MADE_SYMTAB, MADE_STRTAB, MADE_SECTIONS };

struct made_symbol {
	const char *name;
	uint64_t value, size;
	uint16_t section;
	unsigned char bind, type;
};

static inline void made_section(Elf64_Shdr *s, uint32_t type, uint64_t flags, size_t offset, size_t len)
{
	*s = (Elf64_Shdr){.sh_type = type, .sh_flags = flags, .sh_offset = offset, .sh_size = len, .sh_addralign = 8};
}

static inline void made_symbols(struct blob *b, const struct made_symbol *syms, size_t n, Elf64_Shdr sections[MADE_SECTIONS])
{
	struct blob strings = {0};
	size_t start = b->len, at;
	Elf64_Sym null = {0};

	blob_u8(&strings, 0);
	blob_put(b, &null, sizeof(null));
	for (size_t i = 0; i < n; i++) {
		Elf64_Sym sym = {
			.st_name = (Elf64_Word)blob_string(&strings, syms[i].name),
			.st_info = ELF64_ST_INFO(syms[i].bind, syms[i].type),
			.st_shndx = syms[i].section,
			.st_value = syms[i].value,
			.st_size = syms[i].size,
		};

		blob_put(b, &sym, sizeof(sym));
	}
	made_section(&sections[MADE_SYMTAB], SHT_SYMTAB, 0, start, b->len - start);
	sections[MADE_SYMTAB].sh_link = MADE_STRTAB;
	sections[MADE_SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	at = blob_put(b, strings.bytes, strings.len);
	made_section(&sections[MADE_STRTAB], SHT_STRTAB, 0, at, strings.len);
	blob_free(&strings);
}

static inline struct blob make_elf(const struct made_symbol *syms, size_t n)
{
	Elf64_Shdr sections[MADE_SECTIONS] = {0};
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = MADE_SECTIONS,
	};
	struct blob b = {0};

	blob_put(&b, &header, sizeof(header));
	made_section(&sections[MADE_TEXT], SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, b.len, 0);
	made_section(&sections[MADE_DATA], SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, b.len, 0);
	made_section(&sections[MADE_RODATA], SHT_PROGBITS, SHF_ALLOC, b.len, 0);
	made_section(&sections[MADE_BSS], SHT_NOBITS, SHF_ALLOC | SHF_WRITE, b.len, 4096);
	made_section(&sections[MADE_NOTES], SHT_NOTE, SHF_ALLOC, b.len, 36);
	sections[MADE_NOTES].sh_addralign = 4;
	blob_u32(&b, 4);
	blob_u32(&b, 20);
	blob_u32(&b, NT_GNU_BUILD_ID);
	blob_put(&b, "GNU", 4);
	blob_put(&b, MADE_BUILD_ID, 20);
	blob_align(&b, 8);
	made_symbols(&b, syms, n, sections);
	blob_align(&b, 8);
	header.e_shoff = b.len;
	blob_put(&b, sections, sizeof(sections));
	memcpy(b.bytes, &header, sizeof(header));
	return b;
}

#endif
