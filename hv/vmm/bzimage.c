/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the setup header of a bzImage, and chooses where in guest RAM to load the kernel and the initrd
 * (Documentation/arch/x86/boot.rst).
 */
#include "hv/vmm/bzimage.h"

#include <string.h>

#include "hv/base/x86.h"
#include "hv/vmm/layout.h"

#define HDR_OFFSET offsetof(struct boot_params, hdr)
#define HDR_JUMP_END 0x202    /* offset of the end of a jump over the rest of the header; its last byte has the distance */
#define HDR_MAGIC 0x53726448  /* "HdrS" */
#define PROTOCOL_64BIT 0x020c /* 2.12, the first with xloadflags */
#define SECTOR 512u
#define SETUP_SECTS_DEFAULT 4u

_Static_assert(HDR_OFFSET == 0x1f1, "struct boot_params has the layout of the zero page (boot.rst)");
_Static_assert(HDR_JUMP_END + 0xff <= BZIMAGE_HEAD_MAX, "BZIMAGE_HEAD_MAX bytes include the longest setup header");

bool bzimage_matches(const uint8_t *head, size_t len)
{
	struct setup_header hdr;

	if (len < HDR_OFFSET + sizeof(hdr))
		return false;
	memcpy(&hdr, head + HDR_OFFSET, sizeof(hdr));
	return hdr.boot_flag == 0xaa55 && hdr.header == HDR_MAGIC;
}

static int check_protocol(const struct setup_header *hdr, const char *path, struct err *err)
{
	if (hdr->version < PROTOCOL_64BIT)
		return err_set(err, EXIT_INPUT, "kernel %s speaks boot protocol %u.%02u; 2.12 or newer is needed (Linux 3.8)",
			       path, hdr->version >> 8, hdr->version & 0xff);
	if (!(hdr->loadflags & LOADED_HIGH) || !(hdr->xloadflags & XLF_KERNEL_64))
		return err_set(err, EXIT_INPUT, "kernel %s has no 64-bit entry point; give an x86-64 bzImage", path);
	if (!hdr->init_size || !hdr->kernel_alignment || (hdr->kernel_alignment & (hdr->kernel_alignment - 1)))
		return err_set(err, EXIT_INPUT, "kernel %s has a corrupt setup header (init_size %u, alignment %u)", path,
			       hdr->init_size, hdr->kernel_alignment);
	return 0;
}

int bzimage_parse(const uint8_t *head, size_t len, uint64_t file_size, const char *path, struct bzimage *out, struct err *err)
{
	unsigned sects;
	size_t end;

	if (!bzimage_matches(head, len))
		return err_set(err, EXIT_INPUT, "kernel %s is not a bzImage", path);
	/* An older protocol has a shorter header. Members of *out that lie beyond the header's end stay 0. */
	end = HDR_JUMP_END + head[HDR_JUMP_END - 1];
	memset(out, 0, sizeof(*out));
	if (end > len)
		return err_set(err, EXIT_INPUT, "kernel %s is truncated: its setup header alone has %zu bytes", path, end);
	end -= HDR_OFFSET;
	memcpy(&out->hdr, head + HDR_OFFSET, end < sizeof(out->hdr) ? end : sizeof(out->hdr));
	if (check_protocol(&out->hdr, path, err) < 0)
		return -1;

	sects = out->hdr.setup_sects ? out->hdr.setup_sects : SETUP_SECTS_DEFAULT;
	out->payload_offset = (sects + 1ull) * SECTOR;
	out->payload_size = out->hdr.syssize * 16ull;
	if (out->payload_offset + out->payload_size > file_size)
		return err_set(err, EXIT_INPUT, "kernel %s is truncated: %llu of %llu bytes", path,
			       (unsigned long long)file_size, (unsigned long long)(out->payload_offset + out->payload_size));
	if (!out->payload_size || out->payload_size > out->hdr.init_size)
		return err_set(err, EXIT_INPUT, "kernel %s has a corrupt setup header (%llu bytes of code, init_size %u)", path,
			       (unsigned long long)out->payload_size, out->hdr.init_size);
	return 0;
}

uint64_t bzimage_place(const struct setup_header *hdr, uint64_t low)
{
	uint64_t start = hdr->pref_address;

	return start >= BIOS_END_GPA && start < low && hdr->init_size <= low - start ? start : 0;
}

uint64_t bzimage_place_initrd(const struct setup_header *hdr, uint64_t size, uint64_t low, uint64_t start, uint64_t end)
{
	uint64_t top = hdr->initrd_addr_max + 1ull;
	uint64_t at;

	if (top > low)
		top = low;
	if (top >= end && size <= top - end) {
		at = (top - size) & ~(uint64_t)(X86_PAGE_SIZE - 1);
		if (at >= end)
			return at;
	}
	if (start > BIOS_END_GPA && size <= start - BIOS_END_GPA)
		return (start - size) & ~(uint64_t)(X86_PAGE_SIZE - 1);
	return 0;
}
