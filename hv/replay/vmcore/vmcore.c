// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a machine's memory and registers as an ELF core that crash and drgn open. */
#include "hv/replay/vmcore/vmcore.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/new_file.h"
#include "hv/replay/vmcore/notes.h"
#include "hv/vmm/layout.h"

#define RANGES_MAX 2
#define CHUNK_MAX MIB(4) /* maximum number of bytes in one write() */

/* A range of RAM, and its offset in the file. */
struct range {
	uint64_t gpa, len, offset;
	const uint8_t *host;
};

struct layout {
	struct range ranges[RANGES_MAX];
	unsigned count;
	uint64_t notes_offset;
	Elf64_Phdr segments[2 + RANGES_MAX];
	unsigned segment_count;
};

static uint64_t page_align(uint64_t n)
{
	return (n + X86_PAGE_SIZE - 1) & ~(uint64_t)(X86_PAGE_SIZE - 1);
}

static void add_segment(struct layout *l, uint64_t gva, uint64_t gpa, uint64_t len, uint64_t offset)
{
	l->segments[l->segment_count++] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_W | PF_X,
		.p_offset = offset,
		.p_vaddr = gva,
		.p_paddr = gpa,
		.p_filesz = len,
		.p_memsz = len,
	};
}

/*
 * Returns whether the core gets a second mapping of the kernel's image, as kdump does: through this mapping a reader of the
 * core finds the page tables, and through the page tables all other memory. The address comes from the guest, so check that it
 * is RAM.
 */
static bool has_image(const struct vmcore *core)
{
	const struct vmcore_kernel *k = core->kernel;

	return k && k->image_len && ram_at(core->ram, k->image_gpa, k->image_len);
}

static uint64_t offset_of(const struct layout *l, uint64_t gpa)
{
	const struct range *r = gpa < RAM_HOLE_END ? &l->ranges[0] : &l->ranges[1];

	return r->offset + (gpa - r->gpa);
}

static void lay_out(struct layout *l, const struct vmcore *core, size_t notes_len)
{
	const struct ram *ram = core->ram;
	uint64_t at, direct_map = core->kernel ? core->kernel->direct_map : 0;

	l->ranges[l->count++] = (struct range){.gpa = 0, .len = ram->low, .host = ram->host};
	if (ram->high)
		l->ranges[l->count++] = (struct range){.gpa = RAM_HOLE_END, .len = ram->high, .host = ram->host + ram->low};
	l->notes_offset = sizeof(Elf64_Ehdr) + (1 + l->count + has_image(core)) * sizeof(Elf64_Phdr);
	at = page_align(l->notes_offset + notes_len);
	for (unsigned i = 0; i < l->count; i++) {
		l->ranges[i].offset = at;
		at += l->ranges[i].len;
	}
	l->segments[l->segment_count++] =
		(Elf64_Phdr){.p_type = PT_NOTE, .p_offset = l->notes_offset, .p_filesz = notes_len, .p_memsz = notes_len};
	if (has_image(core))
		add_segment(l, core->kernel->image, core->kernel->image_gpa, core->kernel->image_len,
			    offset_of(l, core->kernel->image_gpa));
	for (unsigned i = 0; i < l->count; i++) {
		const struct range *r = &l->ranges[i];

		add_segment(l, direct_map ? direct_map + r->gpa : 0, r->gpa, r->len, r->offset);
	}
}

static int write_header(struct new_file *f, const struct layout *l, struct err *err)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT, ELFOSABI_NONE},
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)l->segment_count,
	};

	return new_file_append(f, &header, sizeof(header), err);
}

static bool is_zero(const uint8_t *page)
{
	return page[0] == 0 && memcmp(page, page + 1, X86_PAGE_SIZE - 1) == 0;
}

/*
 * Find a series of pages from `at` on that all contain only zeros, or of which none does. Returns its length in bytes, at most
 * CHUNK_MAX. *zero becomes true if the pages contain only zeros, otherwise false.
 */
static uint64_t stretch(const uint8_t *at, uint64_t len, bool *zero)
{
	uint64_t n = X86_PAGE_SIZE;

	*zero = is_zero(at);
	while (n < len && n < CHUNK_MAX && is_zero(at + n) == *zero)
		n += X86_PAGE_SIZE;
	return n;
}

static int write_range(struct new_file *f, const struct range *r, struct err *err)
{
	for (uint64_t done = 0, n; done < r->len; done += n) {
		bool zero;

		n = stretch(r->host + done, r->len - done, &zero);
		if (zero)
			new_file_skip(f, n);
		else if (new_file_append(f, r->host + done, n, err))
			return -1;
	}
	return 0;
}

static int write_all(struct new_file *f, const struct vmcore *core, struct err *err)
{
	struct layout l = {0};
	size_t notes_len;
	uint8_t *notes = notes_make(core, &notes_len);
	int rc = -1;

	if (!notes)
		return err_set(err, EXIT_INTERNAL, "out of memory while writing %.300s", f->path);
	lay_out(&l, core, notes_len);
	if (write_header(f, &l, err) || new_file_append(f, l.segments, l.segment_count * sizeof(*l.segments), err) ||
	    new_file_append(f, notes, notes_len, err))
		goto out;
	new_file_skip(f, l.ranges[0].offset - f->at);
	for (unsigned i = 0; i < l.count; i++) {
		if (write_range(f, &l.ranges[i], err))
			goto out;
	}
	rc = 0;
out:
	free(notes);
	return rc;
}

int vmcore_write(const struct vmcore *core, const char *path, struct err *err)
{
	struct new_file f;
	int rc = new_file_create(&f, path, err);

	if (rc == 0)
		rc = write_all(&f, core, err);
	if (rc == 0)
		rc = new_file_commit(&f, err);
	new_file_drop(&f);
	return rc;
}
