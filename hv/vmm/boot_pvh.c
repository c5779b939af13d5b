/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads an ELF vmlinux for its PVH entry (Xen's docs/misc/pvh.pandoc and public/arch-x86/hvm/start_info.h). The ELF note
 * XEN_ELFNOTE_PHYS32_ENTRY has the entry's address (Linux: arch/x86/platform/pvh/head.S).
 */
#include <elf.h>
#include <string.h>

#include "hv/base/x86.h"
#include "hv/vmm/boot_protocols.h"
#include "hv/vmm/layout.h"

#define NOTE_PHYS32_ENTRY 18
#define START_INFO_MAGIC 0x336ec578
#define PHDR_MAX 64
#define MESSAGES_MAX KIB(64)

struct start_info {
	uint32_t magic, version, flags, nr_modules;
	uint64_t modlist_paddr, cmdline_paddr, rsdp_paddr, memmap_paddr;
	uint32_t memmap_entries, reserved;
};

struct module_entry {
	uint64_t paddr, size, cmdline_paddr, reserved;
};

struct memmap_entry {
	uint64_t addr, size;
	uint32_t type, reserved;
};

/* The page at BOOT_START_INFO_GPA, which the kernel reads at its start. */
struct start_page {
	struct start_info info;
	struct module_entry initrd;
	struct memmap_entry map[RAM_E820_MAX];
};

_Static_assert(sizeof(struct start_page) <= X86_PAGE_SIZE, "the PVH start page ends before the boot tables that follow it");

/*
 * Read the note at *at, and move *at to the note after it. Returns false at the end of the notes or at a malformed note. Checks
 * all lengths, because the file is not trusted.
 */
static bool next_note(const uint8_t *notes, size_t len, size_t *at, Elf64_Nhdr *note, const uint8_t **name,
		      const uint8_t **desc)
{
	uint64_t name_len, desc_len;

	if (len - *at < sizeof(*note))
		return false;
	memcpy(note, notes + *at, sizeof(*note));
	*at += sizeof(*note);
	name_len = (note->n_namesz + 3ull) & ~3ull;
	desc_len = (note->n_descsz + 3ull) & ~3ull;
	if (name_len + desc_len > len - *at)
		return false;
	*name = notes + *at;
	*desc = notes + *at + name_len;
	*at += (size_t)(name_len + desc_len);
	return true;
}

static uint64_t entry_in_notes(const uint8_t *notes, size_t len)
{
	const uint8_t *name, *desc;
	Elf64_Nhdr note;
	size_t at = 0;

	while (next_note(notes, len, &at, &note, &name, &desc)) {
		uint64_t entry = 0;

		if (note.n_type != NOTE_PHYS32_ENTRY || note.n_namesz != sizeof("Xen") || memcmp(name, "Xen", sizeof("Xen")))
			continue;
		if (note.n_descsz == 4 || note.n_descsz == 8)
			memcpy(&entry, desc, note.n_descsz);
		return entry;
	}
	return 0;
}

static int find_entry(const struct boot_file *kernel, const Elf64_Phdr *ph, uint64_t *entry, struct err *err)
{
	uint8_t notes[MESSAGES_MAX];

	if (ph->p_filesz > sizeof(notes))
		return err_set(err, EXIT_INPUT,
			       "kernel %s has %llu bytes of ELF notes, far more than a Linux kernel has: the file is corrupt",
			       kernel->path, (unsigned long long)ph->p_filesz);
	if (boot_file_read(kernel, ph->p_offset, notes, ph->p_filesz, err) < 0)
		return -1;
	*entry = entry_in_notes(notes, ph->p_filesz);
	return 0;
}

static int load_segment(const struct boot_request *req, const Elf64_Phdr *ph, uint64_t *end, struct err *err)
{
	uint8_t *to;

	if (ph->p_filesz > ph->p_memsz)
		return err_set(err, EXIT_INPUT, "kernel %s has a corrupt ELF segment", req->kernel.path);
	if (!ph->p_memsz)
		return 0;
	to = ram_at(req->ram, ph->p_paddr, ph->p_memsz);
	/* A segment must lie in RAM above the first MiB, which has the boot tables and parameters. */
	if (!to || ph->p_paddr < BIOS_END_GPA || ph->p_paddr >= RAM_HOLE_START)
		return err_set(err, EXIT_INPUT,
			       "kernel %s wants %llu KiB at 0x%llx, which is not guest RAM; give --memory a larger size",
			       req->kernel.path, (unsigned long long)(ph->p_memsz >> 10), (unsigned long long)ph->p_paddr);
	if (boot_file_read(&req->kernel, ph->p_offset, to, ph->p_filesz, err) < 0)
		return -1;
	memset(to + ph->p_filesz, 0, ph->p_memsz - ph->p_filesz);
	if (ph->p_paddr + ph->p_memsz > *end)
		*end = ph->p_paddr + ph->p_memsz;
	return 0;
}

int boot_pvh_header(const struct boot_file *kernel, Elf64_Ehdr *out, struct err *err)
{
	if (boot_file_read(kernel, 0, out, sizeof(*out), err) < 0)
		return -1;
	if (out->e_ident[EI_CLASS] != ELFCLASS64 || out->e_ident[EI_DATA] != ELFDATA2LSB || out->e_machine != EM_X86_64 ||
	    out->e_type != ET_EXEC || out->e_phentsize != sizeof(Elf64_Phdr) || out->e_phnum > PHDR_MAX)
		return err_set(err, EXIT_INPUT, "kernel %s is not an x86-64 vmlinux", kernel->path);
	return 0;
}

static int load_segments(const struct boot_request *req, uint64_t *entry, uint64_t *end, struct err *err)
{
	Elf64_Phdr ph[PHDR_MAX];
	Elf64_Ehdr eh;

	if (boot_pvh_header(&req->kernel, &eh, err) < 0)
		return -1;
	if (boot_file_read(&req->kernel, eh.e_phoff, ph, eh.e_phnum * sizeof(ph[0]), err) < 0)
		return -1;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && load_segment(req, &ph[i], end, err) < 0)
			return -1;
		if (ph[i].p_type == PT_NOTE && !*entry && find_entry(&req->kernel, &ph[i], entry, err) < 0)
			return -1;
	}
	if (*entry >= *end || *entry < BIOS_END_GPA)
		return err_set(err, EXIT_INPUT, "kernel %s has no usable PVH entry note (CONFIG_PVH); give its bzImage",
			       req->kernel.path);
	return 0;
}

int boot_pvh(const struct boot_request *req, struct boot_entry *out, struct err *err)
{
	struct start_page *page = ram_at(req->ram, BOOT_START_INFO_GPA, sizeof(*page));
	const struct setup_header limits = {.initrd_addr_max = 0x7fffffff};
	struct boot_e820_entry map[RAM_E820_MAX];
	struct boot_initrd initrd;
	uint64_t entry = 0, end = 0;
	unsigned n = ram_e820(req->ram, map);

	if (load_segments(req, &entry, &end, err) < 0 || boot_initrd(req, &limits, BIOS_END_GPA, end, &initrd, err) < 0)
		return -1;
	memset(page, 0, sizeof(*page));
	page->initrd = (struct module_entry){.paddr = initrd.at, .size = initrd.size};
	page->info = (struct start_info){
		.magic = START_INFO_MAGIC,
		.version = 1,
		.nr_modules = initrd.size ? 1 : 0,
		.modlist_paddr = BOOT_START_INFO_GPA + offsetof(struct start_page, initrd),
		.cmdline_paddr = BOOT_CMDLINE_GPA,
		.rsdp_paddr = req->rsdp,
		.memmap_paddr = BOOT_START_INFO_GPA + offsetof(struct start_page, map),
		.memmap_entries = n,
	};
	for (unsigned i = 0; i < n; i++)
		page->map[i] = (struct memmap_entry){map[i].addr, map[i].size, map[i].type, 0};
	*out = (struct boot_entry){.mode = BOOT_PVH32, .rip = entry, .params = BOOT_START_INFO_GPA};
	return 0;
}
