/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading kernel and initrd files into guest memory: where each part goes, and hostile files, which the loader must refuse. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/vmm/boot.h"
#include "hv/vmm/layout.h"
#include "tests/unit/vmm/sample_bzimage.h"

#define ELF_SIZE 0x2000
#define ENTRY 0x1000040ull
#define BZ_SIZE (2 * 512 + 4096)

struct fixture {
	struct ram ram;
	char kernel[64], initrd[64];
};

static void write_file(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
	static struct fixture f;
	struct err err = {0};
	int fd;

	strcpy(f.kernel, "/tmp/outrider-test-kernel-XXXXXX");
	strcpy(f.initrd, "/tmp/outrider-test-initrd-XXXXXX");
	fd = mkstemp(f.kernel);
	if (fd < 0 || close(fd) < 0)
		return -1;
	fd = mkstemp(f.initrd);
	if (fd < 0 || close(fd) < 0)
		return -1;
	*state = &f;
	return ram_map(&f.ram, MIB(64), &err);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ram_unmap(&f->ram);
	unlink(f->kernel);
	unlink(f->initrd);
	return 0;
}

static int load(struct fixture *f, bool initrd, struct boot_entry *entry, struct err *err)
{
	struct vmm_config config = {.kernel = f->kernel, .initrd = initrd ? f->initrd : NULL, .cmdline = "quiet"};

	*err = (struct err){0};
	return boot_load(&f->ram, &config, ACPI_GPA, entry, err);
}

static void refused(struct fixture *f, bool initrd, const char *because)
{
	struct boot_entry entry;
	struct err err;

	assert_int_equal(load(f, initrd, &entry, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, because));
}

static void make_bzimage(uint8_t file[BZ_SIZE])
{
	struct setup_header hdr = sample_setup_header(1, 256);

	hdr.init_size = MIB(16); /* the guest's 64 MiB of RAM then have room for the initrd above the kernel */
	memset(file, 0, BZ_SIZE);
	memcpy(file + 0x1f1, &hdr, sizeof(hdr));
	memset(file + 2 * 512, 0x90, 4096);
}

static void make_elf(uint8_t file[ELF_SIZE])
{
	Elf64_Ehdr eh = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	Elf64_Phdr ph[] = {
		{.p_type = PT_LOAD, .p_offset = 0x1000, .p_paddr = MIB(16), .p_filesz = 0x1000, .p_memsz = 0x3000},
		{.p_type = PT_NOTE, .p_offset = 0x200, .p_filesz = 12 + 8 + 8 + 12 + 4 + 4},
	};
	/* The first note has another owner, and a name and a description that need padding. */
	struct {
		Elf64_Nhdr other;
		char other_name[8], other_desc[8];
		Elf64_Nhdr xen;
		char name[4];
		uint32_t entry;
	} notes = {{6, 5, 18}, "Linux", "12345", {4, 4, 18}, "Xen", (uint32_t)ENTRY};

	memset(file, 0, ELF_SIZE);
	memcpy(file, &eh, sizeof(eh));
	memcpy(file + sizeof(eh), ph, sizeof(ph));
	memcpy(file + 0x200, &notes, sizeof(notes));
	memset(file + 0x1000, 0x90, 0x1000);
}

static void test_bzimage(void **state)
{
	struct fixture *f = *state;
	const struct boot_params *params;
	struct boot_entry entry;
	uint8_t file[BZ_SIZE];
	const uint8_t *code;
	struct err err;

	make_bzimage(file);
	write_file(f->kernel, file, sizeof(file));
	write_file(f->initrd, "INITRD", 6);
	assert_int_equal(load(f, true, &entry, &err), 0);
	assert_int_equal(entry.mode, BOOT_LINUX64);
	assert_int_equal(entry.rip, MIB(16) + 0x200);
	params = ram_at(&f->ram, entry.params, sizeof(*params));
	assert_int_equal(params->hdr.type_of_loader, 0xff);
	assert_int_equal(params->hdr.ramdisk_size, 6);
	assert_memory_equal(ram_at(&f->ram, params->hdr.ramdisk_image, 6), "INITRD", 6);
	assert_string_equal(ram_at(&f->ram, params->hdr.cmd_line_ptr, 1), "console=ttyS0 quiet");
	assert_int_equal(params->acpi_rsdp_addr, ACPI_GPA);
	assert_int_equal(params->e820_entries, 6);
	code = ram_at(&f->ram, MIB(16), 4096);
	assert_int_equal(code[0], 0x90);
	assert_int_equal(code[4095], 0x90);
}

/* The tables map every page of the low 4 GiB to its own address, and no other page. */
static void test_page_tables(void **state)
{
	struct fixture *f = *state;
	struct boot_entry entry;
	uint8_t file[BZ_SIZE];
	const uint64_t *pml4, *pdpt;
	struct err err;

	make_bzimage(file);
	write_file(f->kernel, file, sizeof(file));
	assert_int_equal(load(f, false, &entry, &err), 0);
	pml4 = ram_at(&f->ram, BOOT_PAGE_TABLES_GPA, 4096);
	pdpt = ram_at(&f->ram, pml4[0] & ~0xfffull, 4096);
	for (unsigned i = 1; i < 512; i++)
		assert_int_equal(pml4[i], 0);
	for (uint64_t i = 0; i < 4 * 512; i++) {
		const uint64_t *pd = ram_at(&f->ram, pdpt[i / 512] & ~0xfffull, 4096);

		assert_int_equal(pd[i % 512], i << 21 | 0x83);
	}
	assert_int_equal(pdpt[4], 0);
}

static void test_pvh(void **state)
{
	struct fixture *f = *state;
	struct boot_entry entry;
	uint8_t file[ELF_SIZE];
	const uint8_t *code;
	const uint32_t *info;
	struct err err;

	make_elf(file);
	write_file(f->kernel, file, sizeof(file));
	write_file(f->initrd, "INITRD", 6);
	memset(ram_at(&f->ram, MIB(16), 0x3000), 0xee, 0x3000);
	assert_int_equal(load(f, true, &entry, &err), 0);
	assert_int_equal(entry.mode, BOOT_PVH32);
	assert_int_equal(entry.rip, ENTRY);
	info = ram_at(&f->ram, entry.params, 56);
	assert_int_equal(info[0], 0x336ec578);
	assert_int_equal(info[3], 1); /* modules */
	code = ram_at(&f->ram, MIB(16), 0x3000);
	assert_int_equal(code[0xfff], 0x90);
	assert_int_equal(code[0x1000], 0); /* bss is cleared */
	assert_int_equal(code[0x2fff], 0);
}

static void test_refusals(void **state)
{
	struct fixture *f = *state;
	uint8_t bz[BZ_SIZE], elf[ELF_SIZE];

	make_bzimage(bz);
	make_elf(elf);
	write_file(f->kernel, "", 0);
	refused(f, false, "is empty");
	write_file(f->kernel, "#!/bin/sh\n", 10);
	refused(f, false, "neither a bzImage nor an ELF vmlinux");
	write_file(f->kernel, bz, sizeof(bz) - 1);
	refused(f, false, "truncated");
	write_file(f->kernel, elf, sizeof(elf) - 1);
	refused(f, false, "truncated");
	write_file(f->kernel, bz, sizeof(bz));
	write_file(f->initrd, "x", 1);
	assert_int_equal(truncate(f->initrd, (off_t)MIB(40)), 0);
	refused(f, true, "does not fit");
	assert_int_equal(truncate(f->initrd, (off_t)GIB(64)), 0);
	refused(f, true, "does not fit");
	unlink(f->initrd);
	refused(f, true, "cannot open initrd");
	elf[0x200 + 12 + 8 + 8 + 8] = 17; /* another note */
	write_file(f->kernel, elf, sizeof(elf));
	refused(f, false, "no usable PVH entry note");
}

/* Flip bits in the headers. The loader loads or refuses the file, and writes no byte outside guest memory (sanitizers check).
 */
static void mutate(struct fixture *f, const uint8_t *file, size_t len, size_t headers, unsigned seed)
{
	uint8_t *copy = malloc(len);
	unsigned refusals = 0;

	assert_non_null(copy);
	for (unsigned i = 0; i < 3000; i++) {
		struct boot_entry entry;
		struct err err;

		memcpy(copy, file, len);
		for (unsigned flips = 0; flips <= i % 4; flips++) {
			seed = seed * 1664525 + 1013904223;
			copy[(seed >> 8) % headers] ^= (uint8_t)(1 << (seed >> 28 & 7));
		}
		write_file(f->kernel, copy, len);
		if (load(f, false, &entry, &err) < 0) {
			assert_int_not_equal(err.code, EXIT_OK);
			assert_int_not_equal(strlen(err.text), 0);
			refusals++;
		}
	}
	free(copy);
	assert_in_range(refusals, 1, 2999);
}

static void test_mutated_bzimage(void **state)
{
	uint8_t file[BZ_SIZE];

	make_bzimage(file);
	mutate(*state, file, sizeof(file), 0x280, 1);
}

static void test_mutated_elf(void **state)
{
	uint8_t file[ELF_SIZE];

	make_elf(file);
	mutate(*state, file, sizeof(file), 0x240, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bzimage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_page_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pvh, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mutated_bzimage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mutated_elf, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
