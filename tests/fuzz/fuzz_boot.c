/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels to boot: bzImages and ELF vmlinuxes, with an initrd as long as the input's first byte says. */
#include "hv/vmm/boot.h"
#include "hv/vmm/layout.h"
#include "tests/fuzz/fuzz.h"

#define RAM (64u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file kernel, initrd;
	static struct ram ram;
	static const uint8_t zeroes[256 * 512];
	struct vmm_config config = {.cmdline = "quiet"};
	struct boot_entry entry;
	struct err err = {0};

	if (!ram.host)
		fuzz_require(ram_map(&ram, RAM, &err) == 0);
	if (!size)
		return 0;
	if (data[0])
		config.initrd = fuzz_file(&initrd, zeroes, data[0] * 512u);
	config.kernel = fuzz_file(&kernel, data + 1, size - 1);
	if (boot_load(&ram, &config, ACPI_GPA, &entry, &err))
		fuzz_refused(&err);
	return 0;
}
