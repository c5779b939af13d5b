// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the facts about a kernel that an ELF core needs, in the memory of the guest. */
#include <string.h>

#include "hv/base/linux_image.h"
#include "hv/replay/vmcore/vmcore.h"

static int read_word(const struct guest_reader *reader, uint64_t gva, uint64_t *out)
{
	return gva ? reader->read(reader->ctx, gva, out, sizeof(*out)) : -1;
}

/* Returns whether the text is a VMCOREINFO: it begins with VMCOREINFO's first key, and contains no NUL. */
static bool is_info(const char *text, size_t len)
{
	static const char first[] = "OSRELEASE=";

	return len > strlen(first) && memcmp(text, first, strlen(first)) == 0 && !memchr(text, 0, len);
}

/* Returns page_offset_base, the GVA at which the kernel maps all RAM and which KASLR moves. 0: unknown. */
static uint64_t direct_map(const struct guest_reader *reader, const struct symtab *symtab)
{
	uint64_t gva;

	return read_word(reader, symtab_addr(symtab, "page_offset_base"), &gva) == 0 && x86_kernel_address(gva) ? gva : 0;
}

/*
 * Find the GVA and the GPA of the kernel's image. The image has a mapping of its own, which begins at LINUX_IMAGE_START and is
 * not a part of the direct map. The kernel's variable phys_base has the GPA of the mapping's start.
 */
static void find_image(struct vmcore_kernel *out, const struct guest_reader *reader, const struct symtab *symtab)
{
	uint64_t start = symtab_addr(symtab, "_text"), end = symtab_addr(symtab, "_end"), phys_base;

	if (start < LINUX_IMAGE_START || end <= start || end > LINUX_IMAGE_END ||
	    read_word(reader, symtab_addr(symtab, "phys_base"), &phys_base))
		return;
	start &= ~(uint64_t)(X86_PAGE_SIZE - 1);
	out->image = start;
	out->image_len = (end - start) & ~(uint64_t)(X86_PAGE_SIZE - 1);
	out->image_gpa = start - LINUX_IMAGE_START + phys_base;
}

int vmcore_kernel_read(struct vmcore_kernel *out, const struct guest_reader *reader, const struct symtab *symtab,
		       struct err *err)
{
	uint64_t data, size;

	*out = (struct vmcore_kernel){.direct_map = direct_map(reader, symtab)};
	find_image(out, reader, symtab);
	if (read_word(reader, symtab_addr(symtab, "vmcoreinfo_data"), &data) ||
	    read_word(reader, symtab_addr(symtab, "vmcoreinfo_size"), &size))
		return err_set(err, EXIT_INPUT, "the guest's kernel has no VMCOREINFO: it was built without CONFIG_CRASH_CORE");
	if (!size || size > sizeof(out->info) || reader->read(reader->ctx, data, out->info, size) || !is_info(out->info, size))
		return err_set(err, EXIT_INPUT, "the guest's kernel has no VMCOREINFO yet: it has not booted that far");
	out->info_len = size;
	return 0;
}
