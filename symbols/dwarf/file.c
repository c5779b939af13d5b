/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens, maps and checks a debug file. libelf reads the headers. The needed fields are copied, because relocation may change
 * the mapped bytes later.
 *
 * The relocations of a module's debug sections (x86-64 psABI, table 4.9) refer to other debug sections, whose link address is
 * 0, and to code and data, whose link addresses di_file_open() has assigned. The relocated value is symbol plus addend; the old
 * content of the section is ignored.
 */
#include "symbols/dwarf/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "symbols/tables/elf_notes.h"

#define MAX_SECTIONS 100000u	/* at most this many sections: bounds the memory that a hostile file can cost */
#define MAX_INFLATED (1u << 30) /* bytes of a decompressed section */

/*
 * The first link address for the sections of a relocatable file. Lower addresses belong to no section: the relocated address of
 * a discarded symbol is 0 plus an addend.
 */
#define RELOCATABLE_BASE 0x100000ull
/*
 * Minimum gap in bytes between two sections, so that the end address of one section is never the start address of the next
 * one.
 */
#define RELOCATABLE_GAP 4096ull

static int map_file(struct di_file *f, struct err *err)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int status = -1;
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st)) {
		err_set(err, EXIT_INPUT, "%s: %s", f->path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr)) {
		err_set(err, EXIT_INPUT, "%s: not an ELF file", f->path);
		goto out;
	}
	f->map_size = (size_t)st.st_size;
	map = mmap(NULL, f->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	if (map == MAP_FAILED) {
		err_set(err, EXIT_INPUT, "%s: cannot be mapped: %s", f->path, strerror(errno));
		goto out;
	}
	f->map = map;
	status = 0;
out:
	if (fd >= 0)
		close(fd);
	return status;
}

static int check_header(struct di_file *f, Elf *elf, struct err *err)
{
	GElf_Ehdr ehdr;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr))
		return err_set(err, EXIT_INPUT, "%s: not an ELF file, or a broken one", f->path);
	if (gelf_getclass(elf) != ELFCLASS64 || ehdr.e_machine != EM_X86_64 || ehdr.e_ident[EI_DATA] != ELFDATA2LSB)
		return err_set(err, EXIT_INPUT, "%s: an ELF file, but not for x86-64", f->path);
	if (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN && ehdr.e_type != ET_REL)
		return err_set(err, EXIT_INPUT, "%s: an ELF file, but neither a linked kernel nor a module", f->path);
	f->relocatable = ehdr.e_type == ET_REL;
	return 0;
}

/* Check a section's header and copy it. *next is the next free link address in a relocatable file. */
static int add_section(struct di_file *f, struct di_section *s, const GElf_Shdr *shdr, const char *name, uint64_t *next,
		       struct err *err)
{
	bool bytes = shdr->sh_type != SHT_NOBITS && shdr->sh_type != SHT_NULL;

	if (!name)
		return err_set(err, EXIT_INPUT, "%s: a section without a name; is the file complete?", f->path);
	if (bytes && (shdr->sh_offset > f->map_size || shdr->sh_size > f->map_size - shdr->sh_offset))
		return err_set(err, EXIT_INPUT, "%s: section %s lies beyond the file's end; is the file complete?", f->path,
			       name);
	s->name = strdup(name);
	if (!s->name)
		return err_set(err, EXIT_INTERNAL, "%s: out of memory", f->path);
	s->alloc = shdr->sh_flags & SHF_ALLOC;
	s->type = shdr->sh_type;
	s->link_section = shdr->sh_link;
	s->info_section = shdr->sh_info;
	s->compressed = bytes && shdr->sh_flags & SHF_COMPRESSED;
	s->bytes = bytes && shdr->sh_size ? f->map + shdr->sh_offset : NULL;
	s->size = shdr->sh_size;
	s->link = shdr->sh_addr;
	if (f->relocatable && s->alloc) {
		if (s->size > UINT32_MAX)
			return err_set(err, EXIT_INPUT, "%s: section %s is too large for a module", f->path, name);
		s->link = *next;
		*next += (s->size + 2 * RELOCATABLE_GAP - 1) & ~(RELOCATABLE_GAP - 1);
	} else if (f->relocatable) {
		s->link = 0;
	}
	return 0;
}

static int read_sections(struct di_file *f, Elf *elf, struct err *err)
{
	uint64_t next = RELOCATABLE_BASE;
	size_t count, names;

	if (elf_getshdrnum(elf, &count) || elf_getshdrstrndx(elf, &names) || count < 2 || count > MAX_SECTIONS)
		return err_set(err, EXIT_INPUT, "%s: section table missing or broken; is the file complete?", f->path);
	f->sections = calloc(count, sizeof(*f->sections));
	if (!f->sections)
		return err_set(err, EXIT_INTERNAL, "%s: out of memory", f->path);
	f->count = count;
	for (size_t i = 1; i < count; i++) {
		Elf_Scn *scn = elf_getscn(elf, i);
		GElf_Shdr shdr;

		if (!scn || !gelf_getshdr(scn, &shdr))
			return err_set(err, EXIT_INPUT, "%s: section table truncated; is the file complete?", f->path);
		if (add_section(f, &f->sections[i], &shdr, elf_strptr(elf, names, shdr.sh_name), &next, err))
			return -1;
		if (!f->relocatable && f->sections[i].alloc && !shdr.sh_addr && !strcmp(f->sections[i].name, ".data..percpu"))
			f->percpu_size = shdr.sh_size;
	}
	return 0;
}

/* Search a section of notes for the build id. */
static void find_build_id(struct di_file *f, const struct di_section *s)
{
	const uint8_t *id;

	f->build_id_len = elf_notes_build_id(s->bytes, s->size, sizeof(f->build_id), &id);
	if (f->build_id_len)
		memcpy(f->build_id, id, f->build_id_len);
}

int di_file_open(struct di_file *f, const char *path, struct err *err)
{
	Elf *elf = NULL;
	int status = -1;

	*f = (struct di_file){.path = strdup(path)};
	if (!f->path) {
		err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
		goto out;
	}
	if (map_file(f, err))
		goto out;
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)f->map, f->map_size);
	if (check_header(f, elf, err) || read_sections(f, elf, err))
		goto out;
	for (size_t i = 1; i < f->count && !f->build_id_len; i++) {
		if (f->sections[i].type == SHT_NOTE && f->sections[i].alloc && f->sections[i].bytes)
			find_build_id(f, &f->sections[i]);
	}
	status = 0;
out:
	elf_end(elf);
	if (status)
		di_file_close(f);
	return status;
}

void di_file_close(struct di_file *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->sections[i].name);
		free(f->sections[i].inflated);
	}
	free(f->sections);
	free(f->path);
	if (f->map)
		munmap(f->map, f->map_size);
	*f = (struct di_file){0};
}

bool di_file_has_dwarf(const struct di_file *f)
{
	for (size_t i = 1; i < f->count; i++) {
		if (f->sections[i].bytes && !strcmp(f->sections[i].name, ".debug_info"))
			return true;
	}
	return false;
}

static int inflate_section(struct di_file *f, struct di_section *s, struct err *err)
{
	Elf64_Chdr head;
	uLongf size;

	if (s->size < sizeof(head))
		return err_set(err, EXIT_INPUT, "%s: section %s is broken", f->path, s->name);
	memcpy(&head, s->bytes, sizeof(head));
	if (head.ch_type != ELFCOMPRESS_ZLIB)
		return err_set(err, EXIT_INPUT, "%s: section %s is compressed, and not by zlib; unpack it with objcopy",
			       f->path, s->name);
	/*
	 * zlib expands one byte to at most 1032 bytes. Reject a header that claims a larger size, before memory of that size is
	 * allocated.
	 */
	if (!head.ch_size || head.ch_size > MAX_INFLATED || head.ch_size / 1032 > s->size)
		return err_set(err, EXIT_INPUT, "%s: section %s claims to inflate to %lu bytes: corrupt, or too large", f->path,
			       s->name, (unsigned long)head.ch_size);
	s->inflated = malloc(head.ch_size);
	if (!s->inflated)
		return err_set(err, EXIT_INTERNAL, "%s: out of memory", f->path);
	size = head.ch_size;
	if (uncompress(s->inflated, &size, s->bytes + sizeof(head), s->size - sizeof(head)) != Z_OK || size != head.ch_size)
		return err_set(err, EXIT_INPUT, "%s: section %s cannot be inflated: corrupt", f->path, s->name);
	s->bytes = s->inflated;
	s->size = size;
	return 0;
}

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
	default: /* Other kinds of relocation occur neither in debug sections nor in references from code to variables. */
		return;
	}
	if (r->r_offset < target->size && target->size - r->r_offset >= width)
		memcpy(target->bytes + r->r_offset, &value, width);
}

/*
 * Apply the relocations of section number `index` of a relocatable file to the section's bytes. Returns 0, or -1 with
 * EXIT_INPUT.
 */
static int relocate(struct di_file *f, size_t index, struct err *err)
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

/* Inflate and relocate a section on first use. On failure its bytes become NULL. */
static int make_ready(struct di_file *f, size_t index, struct err *err)
{
	struct di_section *s = &f->sections[index];

	if (s->ready)
		return 0;
	if ((s->compressed && inflate_section(f, s, err)) || (f->relocatable && relocate(f, index, err))) {
		s->bytes = NULL;
		return -1;
	}
	s->ready = true;
	return 0;
}

struct di_section *di_file_section(struct di_file *f, const char *name, struct err *err)
{
	for (size_t i = 1; i < f->count; i++) {
		struct di_section *s = &f->sections[i];

		if (s->bytes && !strcmp(s->name, name))
			return make_ready(f, i, err) ? NULL : s;
	}
	return NULL;
}

const uint8_t *di_file_code(struct di_file *f, uint64_t addr, uint64_t len, struct err *err)
{
	for (size_t i = 1; i < f->count; i++) {
		struct di_section *s = &f->sections[i];

		if (s->bytes && s->alloc && !s->compressed && addr >= s->link && addr - s->link < s->size &&
		    len <= s->size - (addr - s->link))
			return make_ready(f, i, err) ? NULL : s->bytes + (addr - s->link);
	}
	return NULL;
}

bool di_file_to_link(const struct di_file *f, uint64_t run, uint64_t *link)
{
	if (!f->relocatable) {
		*link = run < f->percpu_size ? run : run - f->slide;
		return true;
	}
	for (size_t i = 1; i < f->count; i++) {
		const struct di_section *s = &f->sections[i];

		if (s->placed && run - s->run < s->size) {
			*link = s->link + (run - s->run);
			return true;
		}
	}
	return false;
}

bool di_file_to_run(const struct di_file *f, uint64_t link, uint64_t *run)
{
	if (!f->relocatable) {
		*run = link < f->percpu_size ? link : link + f->slide;
		return true;
	}
	for (size_t i = 1; i < f->count; i++) {
		const struct di_section *s = &f->sections[i];

		if (s->placed && link - s->link < s->size) {
			*run = s->run + (link - s->link);
			return true;
		}
	}
	return false;
}

void di_file_release(const struct di_file *f)
{
	if (!f->relocatable)
		madvise(f->map, f->map_size, MADV_DONTNEED);
}
