/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 15-addr2line's half in C: choose random memory accesses of a debug file's code and say what debuginfo says of them.
 *
 *     FILE SECTION COUNT SEED
 *
 * For each: "site OFFSET ADDRESS" (in the section; as linked), then a line a frame: function, file with its directory, line,
 * column, separated by tabs, "?" for what is not known. At the end: "cost FIRST_ANSWER_MS TOTAL_MS PEAK_KIB".
 */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/rng.h"
#include "symbols/dwarf/debuginfo.h"
#include "symbols/insn/insn.h"

#define PLACE 0xffffffffc0100000ull /* of a module's section */
#define NOT_SAMPLED (INSN_LOCKED | INSN_NO_ACCESS | INSN_STACK | INSN_INDIRECT)

struct code {
	Elf_Data *data;
	GElf_Shdr shdr;
	GElf_Sym *functions;
	size_t n;
	bool relocatable;
};

static void die(const char *what)
{
	fprintf(stderr, "15-addr2line: %s\n", what);
	exit(2);
}

static void read_functions(Elf *elf, Elf_Scn *symtab, const GElf_Shdr *shdr, size_t section, struct code *code)
{
	Elf_Data *data = elf_getdata(symtab, NULL);
	size_t count = shdr->sh_size / shdr->sh_entsize;
	GElf_Sym sym;

	code->functions = calloc(count, sizeof(*code->functions));
	if (!code->functions || !data || !elf)
		die("no symbols");
	for (size_t i = 0; i < count && gelf_getsym(data, (int)i, &sym); i++) {
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx != section || !sym.st_size)
			continue;
		if (!code->relocatable)
			sym.st_value -= code->shdr.sh_addr;
		if (sym.st_value < code->shdr.sh_size && sym.st_size <= code->shdr.sh_size - sym.st_value)
			code->functions[code->n++] = sym;
	}
}

static Elf *read_code(int fd, const char *section, struct code *code)
{
	Elf *elf = (elf_version(EV_CURRENT), elf_begin(fd, ELF_C_READ_MMAP, NULL));
	Elf_Scn *scn = NULL, *symtab = NULL;
	size_t names, number = 0;
	GElf_Shdr shdr, symtab_shdr = {0};
	GElf_Ehdr ehdr;

	if (!elf || !gelf_getehdr(elf, &ehdr) || elf_getshdrstrndx(elf, &names))
		die("not an ELF file");
	code->relocatable = ehdr.e_type == ET_REL;
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &shdr)) {
		if (shdr.sh_type == SHT_SYMTAB) {
			symtab = scn;
			symtab_shdr = shdr;
		} else if (!strcmp(elf_strptr(elf, names, shdr.sh_name), section)) {
			number = elf_ndxscn(scn);
			code->shdr = shdr;
			code->data = elf_rawdata(scn, NULL);
		}
	}
	if (!symtab || !number || !code->data)
		die("no such section, or no symbols");
	read_functions(elf, symtab, &symtab_shdr, number, code);
	if (!code->n)
		die("no functions");
	return elf;
}

/* A random sampled access of the function; or UINT64_MAX. Every one is as likely as every other. */
static uint64_t choose_site(struct insn_decoder *decoder, const struct code *code, const GElf_Sym *f, struct rng *rng)
{
	const uint8_t *bytes = (const uint8_t *)code->data->d_buf + f->st_value;
	uint64_t site = UINT64_MAX;
	unsigned seen = 0;
	struct insn i;

	for (uint64_t at = 0; at < f->st_size; at += i.len) {
		if (!insn_decode(decoder, bytes + at, f->st_size - at, f->st_value + at, &i))
			break;
		if (i.nmem && !(i.flags & NOT_SAMPLED) && !rng_below(rng, ++seen))
			site = f->st_value + at;
	}
	return site;
}

static void say_site(struct debuginfo *di, const struct code *code, uint64_t site)
{
	struct debuginfo_frame frames[DEBUGINFO_MAX_FRAMES];
	uint64_t linked = code->relocatable ? site : site + code->shdr.sh_addr;
	struct err err = {0};
	int n = debuginfo_lines(di, code->relocatable ? PLACE + site : linked, frames, &err);

	if (n < 0)
		die(err.text);
	printf("site 0x%lx 0x%lx\n", (unsigned long)site, (unsigned long)linked);
	for (int i = 0; i < n; i++) {
		const struct debuginfo_frame *f = &frames[i];
		bool relative = f->file && *f->file != '/' && f->comp_dir;

		printf("%s\t%s%s%s\t%u\t%u\n", f->function ? f->function : "?", relative ? f->comp_dir : "",
		       relative ? "/" : "", f->file ? f->file : "?", f->line, f->column);
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	struct insn_decoder *decoder = insn_decoder_new();
	struct rng rng = {argc == 5 ? strtoul(argv[4], NULL, 10) : 0};
	unsigned long wanted = argc == 5 ? strtoul(argv[3], NULL, 10) : 0;
	double begin, first = 0;
	struct code code = {0};
	struct debuginfo *di;
	struct rusage usage;
	struct err err = {0};
	Elf *elf;
	int fd;

	if (!wanted || !decoder)
		die("usage: FILE SECTION COUNT SEED");
	fd = open(argv[1], O_RDONLY);
	elf = read_code(fd, argv[2], &code);
	begin = now();
	di = debuginfo_open(argv[1], &err);
	if (!di)
		die(err.text);
	debuginfo_place(di, argv[2], PLACE);
	while (wanted) {
		uint64_t site = choose_site(decoder, &code, &code.functions[rng_below(&rng, code.n)], &rng);

		if (site == UINT64_MAX)
			continue;
		say_site(di, &code, site);
		if (!first)
			first = now() - begin;
		wanted--;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("cost %.1f %.1f %ld\n", first, now() - begin, usage.ru_maxrss);
	debuginfo_close(di);
	insn_decoder_free(decoder);
	free(code.functions);
	elf_end(elf);
	close(fd);
	return 0;
}
