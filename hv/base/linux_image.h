/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory layout of x86-64 Linux, the same in all supported versions (Documentation/arch/x86/x86_64/mm.rst). All addresses are
 * GVAs.
 */
#ifndef OUTRIDER_BASE_LINUX_IMAGE_H
#define OUTRIDER_BASE_LINUX_IMAGE_H

#include <stdint.h>

/* The kernel image is linked into this range of 1 GiB (KERNEL_IMAGE_SIZE), and KASLR moves it only within this range. */
#define LINUX_IMAGE_START UINT64_C(0xffffffff80000000)
#define LINUX_IMAGE_END UINT64_C(0xffffffffc0000000)

/* Size and alignment in bytes of task and interrupt stacks without KASAN (arch/x86/include/asm/page_64_types.h). */
#define LINUX_STACK_SIZE UINT64_C(0x4000)

/* The module area begins directly after the image's range. */
#define LINUX_MODULES_START LINUX_IMAGE_END

#endif
