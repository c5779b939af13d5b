/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prepares guest RAM for the first CPU: recognises the kernel's file format, calls the loader of its boot protocol
 * (boot_protocols.h), and writes GDT, page tables and command line.
 */
#include "hv/vmm/boot.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/vmm/block/disk.h"
#include "hv/vmm/boot_protocols.h"
#include "hv/vmm/bzimage.h"
#include "hv/vmm/layout.h"

#define CONSOLE "console=ttyS0"

/* Flat segments, at the selectors of boot_entry.h. The entries in between are null. */
static const uint64_t gdt[] = {
	[BOOT_CODE64_SEL / 8] = 0x00af9b000000ffff,
	[BOOT_DATA_SEL / 8] = 0x00cf93000000ffff,
	[BOOT_CODE32_SEL / 8] = 0x00cf9b000000ffff,
};

/* Map the low 4 GiB by 2 MiB pages. The PML4, the PDPT and the four page directories are six consecutive pages. */
static void write_page_tables(struct ram *ram)
{
	uint64_t *table = ram_at(ram, BOOT_PAGE_TABLES_GPA, 6 * 4096);
	uint64_t *dir = table + 2 * 512;

	memset(table, 0, 2 * 4096);
	table[0] = (BOOT_PAGE_TABLES_GPA + 0x1000) | 3; /* present, writable */
	for (unsigned i = 0; i < 4; i++)
		table[512 + i] = (BOOT_PAGE_TABLES_GPA + 0x2000 + i * 0x1000) | 3;
	for (uint64_t i = 0; i < 4 * 512; i++)
		dir[i] = i << 21 | 0x83; /* present, writable, page size */
}

/* The first bytes of a kernel's file, which show whether the file is a bzImage or an ELF file. */
struct kernel_head {
	uint8_t bytes[BZIMAGE_HEAD_MAX];
	size_t len;
	/* True: a bzImage. False: an ELF file. */
	bool is_bzimage;
};

static int read_head(const struct boot_file *kernel, struct kernel_head *head, struct err *err)
{
	head->len = kernel->size < sizeof(head->bytes) ? (size_t)kernel->size : sizeof(head->bytes);
	if (boot_file_read(kernel, 0, head->bytes, head->len, err) < 0)
		return -1;
	head->is_bzimage = bzimage_matches(head->bytes, head->len);
	if (head->is_bzimage || (head->len >= SELFMAG && !memcmp(head->bytes, ELFMAG, SELFMAG)))
		return 0;
	return err_set(err, EXIT_INPUT, "kernel %s is neither a bzImage nor an ELF vmlinux", kernel->path);
}

static int load_kernel(const struct boot_request *req, struct boot_entry *out, struct err *err)
{
	struct kernel_head head;

	if (read_head(&req->kernel, &head, err) < 0)
		return -1;
	return head.is_bzimage ? boot_bzimage(req, head.bytes, head.len, out, err) : boot_pvh(req, out, err);
}

static int check_kernel(const struct boot_file *kernel, struct err *err)
{
	struct kernel_head head;
	struct bzimage image;
	Elf64_Ehdr elf;

	if (read_head(kernel, &head, err) < 0)
		return -1;
	if (head.is_bzimage)
		return bzimage_parse(head.bytes, head.len, kernel->size, kernel->path, &image, err);
	return boot_pvh_header(kernel, &elf, err);
}

/*
 * Open all images as the machine will, then close them, so that a bad image is reported before the VM is made. All images are
 * open at the same time, so that an image that is given twice is detected by its conflicting locks.
 */
static int check_disks(const struct vmm_config *config, struct err *err)
{
	struct disk *disk[VMM_MAX_DISKS] = {NULL};
	int rc = 0;

	for (size_t i = 0; i < config->disk_count && i < VMM_MAX_DISKS && rc == 0; i++) {
		disk[i] = disk_open(&config->disks[i], err);
		rc = disk[i] ? 0 : -1;
	}
	for (size_t i = 0; i < VMM_MAX_DISKS; i++)
		disk_close(disk[i]);
	return rc;
}

int vmm_check_files(const struct vmm_config *config, struct err *err)
{
	struct boot_file file;
	int rc;

	if (boot_file_open(&file, "kernel", config->kernel, err) < 0)
		return -1;
	rc = check_kernel(&file, err);
	boot_file_close(&file);
	if (rc < 0)
		return rc;
	if (config->initrd) {
		if (boot_file_open(&file, "initrd", config->initrd, err) < 0)
			return -1;
		boot_file_close(&file);
	}
	return check_disks(config, err);
}

int boot_load(struct ram *ram, const struct vmm_config *config, uint64_t rsdp, struct boot_entry *out, struct err *err)
{
	struct boot_request req = {.ram = ram, .initrd = config->initrd, .rsdp = rsdp};
	int rc = -1;

	if (boot_file_open(&req.kernel, "kernel", config->kernel, err) < 0)
		return -1;
	if (asprintf(&req.cmdline, CONSOLE "%s%s", config->cmdline ? " " : "", config->cmdline ? config->cmdline : "") < 0) {
		req.cmdline = NULL;
		err_set(err, EXIT_INTERNAL, "out of memory for the kernel command line");
		goto out;
	}
	if (strlen(req.cmdline) >= BOOT_CMDLINE_MAX) {
		err_set(err, EXIT_USAGE, "kernel command line of %zu bytes is too long", strlen(req.cmdline));
		goto out;
	}
	memcpy(ram_at(ram, BOOT_GDT_GPA, sizeof(gdt)), gdt, sizeof(gdt));
	write_page_tables(ram);
	strcpy(ram_at(ram, BOOT_CMDLINE_GPA, BOOT_CMDLINE_MAX), req.cmdline);
	rc = load_kernel(&req, out, err);
out:
	free(req.cmdline);
	boot_file_close(&req.kernel);
	return rc;
}
