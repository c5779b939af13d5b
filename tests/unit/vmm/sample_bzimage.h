/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bzImage's setup header for the tests that make kernel files. */
#ifndef OUTRIDER_TESTS_SAMPLE_BZIMAGE_H
#define OUTRIDER_TESTS_SAMPLE_BZIMAGE_H

#include <stdint.h>

#include <asm/bootparam.h>

/* The header as Linux 6.1 has it, for `setup_sects` sectors of setup code and `syssize` times 16 bytes of protected-mode code.
 */
static inline struct setup_header sample_setup_header(uint8_t setup_sects, uint32_t syssize)
{
	return (struct setup_header){
		.setup_sects = setup_sects,
		.syssize = syssize,
		.boot_flag = 0xaa55,
		.jump = 0x6aeb,
		.header = 0x53726448,
		.version = 0x20f,
		.loadflags = LOADED_HIGH,
		.initrd_addr_max = 0x7fffffff,
		.kernel_alignment = 0x200000,
		.relocatable_kernel = 1,
		.xloadflags = XLF_KERNEL_64,
		.cmdline_size = 2047,
		.pref_address = 0x1000000,
		.init_size = 0x3000000,
	};
}

#endif
