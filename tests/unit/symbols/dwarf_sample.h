/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiles tests/unit/symbols/dwarf_sample.c, and finds symbols and sections in the result. */
#ifndef OUTRIDER_TESTS_UNIT_DWARF_SAMPLE_H
#define OUTRIDER_TESTS_UNIT_DWARF_SAMPLE_H

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "symbols/dwarf/debuginfo.h"

/* The linker keeps the relocations, as in Debian's vmlinux. A reader must not apply them again. */
#define SAMPLE_LINKED                                                                                 \
	"-Wl,--no-warn-rwx-segments -static -no-pie -nostdlib -Wl,--emit-relocs -Wl,--build-id=sha1 " \
	"-Wl,-T,tests/unit/symbols/dwarf_sample.lds "
#define SAMPLE_FLAGS "-g -O2 -mcmodel=kernel -mno-red-zone -fno-pie -ffreestanding -fno-asynchronous-unwind-tables -w"

struct sample {
	char path[64];
	uint8_t *bytes;
	size_t len;
};

/* Where an ELF symbol is. */
struct place {
	char section[32];
	uint64_t offset; /* Bytes from the beginning of the section. */
	uint64_t addr, size;
};

/* Compile the sample with `compiler`, "gcc" or "clang", and more flags. sample_free() removes it. */
static inline void sample_build(struct sample *s, const char *compiler, const char *flags)
{
	char command[1024];
	FILE *f;
	int fd;

	*s = (struct sample){.path = "/tmp/dwarf-sample-XXXXXX"};
	fd = mkstemp(s->path);
	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command), "%s " SAMPLE_FLAGS " %s -o %s tests/unit/symbols/dwarf_sample.c", compiler, flags,
		 s->path);
	assert_int_equal(system(command), 0);
	f = fopen(s->path, "rb");
	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	s->len = (size_t)ftell(f);
	s->bytes = malloc(s->len);
	assert_non_null(s->bytes);
	rewind(f);
	assert_int_equal(fread(s->bytes, 1, s->len, f), s->len);
	fclose(f);
}

static inline void sample_free(struct sample *s)
{
	unlink(s->path);
	free(s->bytes);
}

/* The symbol `name`. A static variable of a function is found by its name in the source, although its symbol is "name.1". */
static inline struct place sample_symbol(const struct sample *s, const char *name)
{
	Elf *elf = (elf_version(EV_CURRENT), elf_memory((char *)s->bytes, s->len));
	struct place p = {0};
	Elf_Scn *scn = NULL;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn)) && !p.section[0]) {
		Elf_Data *data = elf_getdata(scn, NULL);
		GElf_Shdr shdr, home;
		GElf_Sym sym;

		assert_non_null(gelf_getshdr(scn, &shdr));
		for (int i = 1; shdr.sh_type == SHT_SYMTAB && gelf_getsym(data, i, &sym) && !p.section[0]; i++) {
			const char *other = elf_strptr(elf, shdr.sh_link, sym.st_name);
			size_t len = strlen(name);

			if (strncmp(other, name, len) || (other[len] && other[len] != '.'))
				continue;
			gelf_getshdr(elf_getscn(elf, sym.st_shndx), &home);
			snprintf(p.section, sizeof(p.section), "%s", elf_strptr(elf, names, home.sh_name));
			p.offset = sym.st_value - home.sh_addr;
			p.addr = sym.st_value;
			p.size = sym.st_size;
		}
	}
	elf_end(elf);
	if (!p.section[0])
		fail_msg("no symbol %s in the sample", name);
	return p;
}

/* Return the bytes of a section, and their number in *len. NULL: the file has no such section. */
static inline const uint8_t *sample_section(const struct sample *s, const char *name, size_t *len)
{
	Elf *elf = (elf_version(EV_CURRENT), elf_memory((char *)s->bytes, s->len));
	const uint8_t *found = NULL;
	Elf_Scn *scn = NULL;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;

		assert_non_null(gelf_getshdr(scn, &shdr));
		if (strcmp(elf_strptr(elf, names, shdr.sh_name), name))
			continue;
		found = s->bytes + shdr.sh_offset;
		*len = shdr.sh_size;
	}
	elf_end(elf);
	return found;
}

/* The build id of a linked sample. Its note has a head of three words and the name "GNU" before it. Returns its bytes. */
static inline size_t sample_build_id(const struct sample *s, const uint8_t **id)
{
	size_t len = 0;
	const uint8_t *note = sample_section(s, ".note.gnu.build-id", &len);

	assert_non_null(note);
	assert_true(len > sizeof(Elf64_Nhdr) + 4);
	*id = note + sizeof(Elf64_Nhdr) + 4;
	return len - sizeof(Elf64_Nhdr) - 4;
}

#endif
