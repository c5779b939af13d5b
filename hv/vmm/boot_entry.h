/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state in which the first CPU enters a loaded kernel. A boot protocol's loader chooses this state, and vcpu_reset()
 * (machine.h) sets it.
 */
#ifndef OUTRIDER_VMM_BOOT_ENTRY_H
#define OUTRIDER_VMM_BOOT_ENTRY_H

#include <stdint.h>

/* The GDT's selectors. Documentation/arch/x86/boot.rst ("64-bit boot protocol") fixes the first two: __BOOT_CS, __BOOT_DS. */
#define BOOT_CODE64_SEL 0x10
#define BOOT_DATA_SEL 0x18
#define BOOT_CODE32_SEL 0x20

enum boot_mode {
	/* Long mode. The low 4 GiB are mapped at their own addresses, and RSI holds the GPA of the boot_params. */
	BOOT_LINUX64,
	/* Protected mode without paging. EBX holds the GPA of the hvm_start_info (Xen's docs/misc/pvh.pandoc). */
	BOOT_PVH32,
};

struct boot_entry {
	enum boot_mode mode;
	uint64_t rip;	 /* GPA of the first instruction */
	uint64_t params; /* GPA of the boot_params or the hvm_start_info, as `mode` says */
};

#endif
