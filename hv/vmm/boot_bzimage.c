/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads a bzImage by the 64-bit boot protocol (Documentation/arch/x86/boot.rst and zero-page.rst). */
#include <string.h>

#include "hv/vmm/boot_protocols.h"
#include "hv/vmm/bzimage.h"
#include "hv/vmm/layout.h"

#define ENTRY64_OFFSET 0x200
#define LOADER_UNDEFINED 0xff
#define VIDEO_NORMAL 0xffff

static void write_params(const struct boot_request *req, const struct setup_header *hdr)
{
	struct boot_params *params = ram_at(req->ram, BOOT_PARAMS_GPA, sizeof(*params));

	memset(params, 0, sizeof(*params));
	params->hdr = *hdr;
	params->hdr.type_of_loader = LOADER_UNDEFINED;
	params->hdr.vid_mode = VIDEO_NORMAL;
	params->hdr.cmd_line_ptr = BOOT_CMDLINE_GPA;
	params->acpi_rsdp_addr = req->rsdp;
	params->e820_entries = (uint8_t)ram_e820(req->ram, params->e820_table);
}

int boot_bzimage(const struct boot_request *req, const uint8_t *head, size_t len, struct boot_entry *out, struct err *err)
{
	struct bzimage image;
	struct boot_initrd initrd;
	uint64_t start, end;

	if (bzimage_parse(head, len, req->kernel.size, req->kernel.path, &image, err) < 0)
		return -1;
	if (strlen(req->cmdline) > image.hdr.cmdline_size)
		return err_set(err, EXIT_USAGE, "kernel command line of %zu bytes: kernel %s takes at most %u bytes",
			       strlen(req->cmdline), req->kernel.path, image.hdr.cmdline_size);
	start = bzimage_place(&image.hdr, req->ram->low);
	if (!start)
		return err_set(err, EXIT_INPUT, "kernel %s needs %llu MiB of memory to unpack; give --memory a larger size",
			       req->kernel.path,
			       (unsigned long long)((image.hdr.pref_address + image.hdr.init_size + MIB(1) - 1) >> 20));
	end = start + image.hdr.init_size;
	if (boot_file_read(&req->kernel, image.payload_offset, ram_at(req->ram, start, image.payload_size), image.payload_size,
			   err) < 0)
		return -1;
	if (boot_initrd(req, &image.hdr, start, end, &initrd, err) < 0)
		return -1;
	image.hdr.ramdisk_image = (uint32_t)initrd.at;
	image.hdr.ramdisk_size = (uint32_t)initrd.size;
	image.hdr.code32_start = (uint32_t)start;
	write_params(req, &image.hdr);
	*out = (struct boot_entry){.mode = BOOT_LINUX64, .rip = start + ENTRY64_OFFSET, .params = BOOT_PARAMS_GPA};
	return 0;
}
