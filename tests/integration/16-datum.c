/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 16-datum's half in C: what debuginfo calls the data that the functions of a linked file access, those of section .text whose
 * names begin with PREFIX.
 *
 *     FILE PREFIX
 *
 * A line an access, but for the stack's: function, size, variable, type of the variable or pointee, member, separated by tabs.
 */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/dwarf/debuginfo.h"
#include "symbols/insn/insn.h"

struct code {
	const uint8_t *bytes;
	uint64_t addr, size;
	size_t section;
};

static void die(const char *what)
{
	fprintf(stderr, "16-datum: %s\n", what);
	exit(2);
}

static Elf_Data *open_sections(Elf *elf, struct code *code, size_t *names)
{
	Elf_Data *symbols = NULL;
	Elf_Scn *scn = NULL;
	size_t strings;
	GElf_Shdr shdr;

	if (!elf || elf_getshdrstrndx(elf, &strings))
		die("not an ELF file");
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &shdr)) {
		if (shdr.sh_type == SHT_SYMTAB) {
			symbols = elf_getdata(scn, NULL);
			*names = shdr.sh_link;
		} else if (!strcmp(elf_strptr(elf, strings, shdr.sh_name), ".text")) {
			Elf_Data *data = elf_rawdata(scn, NULL);

			if (data)
				*code = (struct code){data->d_buf, shdr.sh_addr, shdr.sh_size, elf_ndxscn(scn)};
		}
	}
	if (!symbols || !code->bytes)
		die("no symbols or no .text");
	return symbols;
}

static void say_access(struct debuginfo *di, const char *function, const struct insn *i, const struct insn_mem *m)
{
	struct debuginfo_datum d;
	struct err err = {0};
	int n;

	if (m->base == X86_RSP || m->seg)
		return;
	if (m->base >= 0)
		n = debuginfo_datum(di, i->addr, (enum x86_gpr)m->base, m->disp, m->size, &d, 1, &err);
	else
		n = debuginfo_variable_at(di, (uint64_t)m->disp + (m->base == INSN_REG_RIP ? i->addr + i->len : 0), m->size, &d,
					  &err);
	if (n < 0)
		die(err.text);
	if (n)
		printf("%s\t%u\t%s\t%s\t%s\n", function, m->size, d.variable, d.owner, d.member);
	else
		printf("%s\t%u\t\t\t\n", function, m->size);
}

static void say_function(struct debuginfo *di, struct insn_decoder *decoder, const struct code *code, const char *name,
			 const GElf_Sym *f)
{
	uint64_t start = f->st_value - code->addr;
	struct insn i;

	if (start > code->size || f->st_size > code->size - start)
		die("a function beyond .text");
	for (uint64_t at = 0; at < f->st_size; at += i.len) {
		if (!insn_decode(decoder, code->bytes + start + at, f->st_size - at, f->st_value + at, &i))
			return;
		for (unsigned k = 0; k < i.nmem; k++)
			say_access(di, name, &i, &i.mem[k]);
	}
}

int main(int argc, char **argv)
{
	struct insn_decoder *decoder = insn_decoder_new();
	struct code code = {0};
	struct debuginfo *di;
	struct err err = {0};
	Elf_Data *symbols;
	size_t names = 0;
	GElf_Sym sym;
	Elf *elf;
	int fd;

	if (argc != 3 || !decoder)
		die("usage: FILE PREFIX");
	fd = open(argv[1], O_RDONLY);
	elf = (elf_version(EV_CURRENT), elf_begin(fd, ELF_C_READ_MMAP, NULL));
	symbols = open_sections(elf, &code, &names);
	di = debuginfo_open(argv[1], &err);
	if (!di)
		die(err.text);
	for (int i = 1; gelf_getsym(symbols, i, &sym); i++) {
		const char *name = elf_strptr(elf, names, sym.st_name);

		if (GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_shndx == code.section &&
		    !strncmp(name, argv[2], strlen(argv[2])))
			say_function(di, decoder, &code, name, &sym);
	}
	debuginfo_close(di);
	insn_decoder_free(decoder);
	elf_end(elf);
	close(fd);
	return 0;
}
