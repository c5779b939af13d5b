/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A core of a machine whose memory, registers and symbols a scenario's author has made: what is read of the kernel for it, and
 * what is written. The core is read back: all that its headers name is in it, and is the machine's memory.
 *
 * The first byte of the input is how many pages are below the hole, the second how many are above it (4 bits) and how many CPUs
 * there are (4 bits). Then come changes to a good kernel (fuzz_patch()).
 */
#include <elf.h>
#include <fcntl.h>
#include <sys/procfs.h>

#include "hv/base/linux_image.h"
#include "hv/base/x86.h"
#include "hv/replay/vmcore/vmcore.h"
#include "hv/vmm/layout.h"
#include "hv/vmm/vmm.h"
#include "symbols/tables/symtab.h"
#include "tests/fuzz/symbols.h"

#define LOW_MAX 8u /* pages */
#define HIGH_MAX 4u
#define CORE_MAX (1u << 18) /* bytes that no such core reaches */
#define IMAGE (LINUX_IMAGE_START + 0x1000000)

/* The kernel's image, which begins with its variables. */
struct image {
	uint64_t page_offset_base, phys_base, info_at, info_len;
	char info[VMCOREINFO_MAX + 64];
};

enum { PAGE_OFFSET_BASE, PHYS_BASE, INFO_DATA, INFO_SIZE, TEXT, END, SYMBOLS };

struct guest {
	struct image image;
	uint64_t address[SYMBOLS];
	struct replay_cpu cpus[VMM_MAX_CPUS];
	int32_t pids[VMM_MAX_CPUS];
	uint8_t ram[(LOW_MAX + HIGH_MAX) * X86_PAGE_SIZE];
};

static void make_good(struct guest *g)
{
	memset(g, 0, sizeof(*g));
	g->image = (struct image){.page_offset_base = 0xffff888000000000,
				  .phys_base = 0xffffffffff002000, /* so that the image is in the few pages there are */
				  .info_at = IMAGE + offsetof(struct image, info),
				  .info_len = 20,
				  .info = "OSRELEASE=6.1.0\nA=1\n"};
	g->address[PAGE_OFFSET_BASE] = IMAGE + offsetof(struct image, page_offset_base);
	g->address[PHYS_BASE] = IMAGE + offsetof(struct image, phys_base);
	g->address[INFO_DATA] = IMAGE + offsetof(struct image, info_at);
	g->address[INFO_SIZE] = IMAGE + offsetof(struct image, info_len);
	g->address[TEXT] = IMAGE;
	g->address[END] = IMAGE + 0x2000;
	memset(g->ram + X86_PAGE_SIZE, 0x5a, X86_PAGE_SIZE);
}

static void read_kernel(const struct guest *g, struct vmcore_kernel *kernel)
{
	static const char *const names[] = {"page_offset_base", "phys_base", "vmcoreinfo_data",
					    "vmcoreinfo_size",	"_text",     "_end"};
	struct fuzz_memory memory = {.gva = IMAGE, .bytes = (const uint8_t *)&g->image, .len = sizeof(g->image)};
	const struct guest_reader reader = {.read = fuzz_read_memory, .ctx = &memory};
	struct symbol symbols[SYMBOLS];
	struct err err = {0};
	struct symtab *symtab;

	for (unsigned i = 0; i < SYMBOLS; i++)
		symbols[i] = (struct symbol){.name = names[i], .addr = g->address[i], .type = 'D'};
	symtab = symtab_from_array(symbols, SYMBOLS, &err);
	if (!symtab) {
		fuzz_refused(&err);
		*kernel = (struct vmcore_kernel){0};
		return;
	}
	if (vmcore_kernel_read(kernel, &reader, symtab, &err) < 0)
		fuzz_refused(&err);
	fuzz_require(kernel->info_len <= sizeof(kernel->info));
	symtab_free(symtab);
}

/* ---- the core ---- */

static void check_notes(const uint8_t *at, const uint8_t *end, unsigned cpus)
{
	unsigned found = 0;

	while (at < end) {
		Elf64_Nhdr h;
		size_t len;

		fuzz_require((size_t)(end - at) >= sizeof(h));
		memcpy(&h, at, sizeof(h));
		len = sizeof(h) + ((h.n_namesz + 3ull) & ~3ull) + ((h.n_descsz + 3ull) & ~3ull);
		fuzz_require(len <= (size_t)(end - at));
		found += h.n_type == NT_PRSTATUS && h.n_descsz == sizeof(struct elf_prstatus);
		at += len;
	}
	fuzz_require(found == cpus);
}

static void check_core(const uint8_t *bytes, size_t size, const struct vmcore *core)
{
	Elf64_Ehdr header;
	Elf64_Phdr p;

	fuzz_require(size >= sizeof(header));
	memcpy(&header, bytes, sizeof(header));
	fuzz_require(header.e_type == ET_CORE && header.e_phoff + header.e_phnum * sizeof(p) <= size);
	for (unsigned i = 0; i < header.e_phnum; i++) {
		const void *ram;

		memcpy(&p, bytes + header.e_phoff + i * sizeof(p), sizeof(p));
		fuzz_require(p.p_offset <= size && p.p_filesz <= size - p.p_offset);
		if (p.p_type == PT_NOTE) {
			check_notes(bytes + p.p_offset, bytes + p.p_offset + p.p_filesz, core->count);
			continue;
		}
		ram = ram_at(core->ram, p.p_paddr, p.p_filesz);
		fuzz_require(p.p_type == PT_LOAD && ram && memcmp(bytes + p.p_offset, ram, p.p_filesz) == 0);
	}
}

static void write_core(const struct vmcore *core)
{
	static uint8_t bytes[CORE_MAX];
	char path[96];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "%s/core", fuzz_folder());
	fuzz_require(vmcore_write(core, path, NULL) == 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = read(fd, bytes, sizeof(bytes));
	fuzz_require(size > 0 && size < CORE_MAX);
	close(fd);
	check_core(bytes, (size_t)size, core);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct guest g;
	static struct vmcore_kernel kernel;
	struct ram ram = {.host = g.ram};
	struct vmcore core = {.ram = &ram, .cpus = g.cpus, .pids = g.pids, .kernel = &kernel};

	if (size < 2)
		return 0;
	make_good(&g);
	const struct fuzz_range ranges[] = {{(uint8_t *)&g.image, sizeof(g.image)},    {(uint8_t *)&g.image, 64},
					    {(uint8_t *)g.address, sizeof(g.address)}, {(uint8_t *)g.cpus, sizeof(g.cpus)},
					    {(uint8_t *)g.pids, sizeof(g.pids)},       {g.ram, sizeof(g.ram)}};

	fuzz_patch(ranges, sizeof(ranges) / sizeof(ranges[0]), data + 2, size - 2);
	ram.low = (1 + data[0] % LOW_MAX) * (uint64_t)X86_PAGE_SIZE;
	ram.high = (data[1] & 15) % (HIGH_MAX + 1) * (uint64_t)X86_PAGE_SIZE;
	core.count = 1 + (data[1] >> 4);
	read_kernel(&g, &kernel);
	write_core(&core);
	return 0;
}
