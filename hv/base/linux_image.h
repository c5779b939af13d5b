/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How x86-64 Linux is laid out, whatever its version (Documentation/arch/x86/x86_64/mm.rst). All addresses are GVAs. */
#ifndef OUTRIDER_BASE_LINUX_IMAGE_H
#define OUTRIDER_BASE_LINUX_IMAGE_H

#include <stdint.h>

/* The kernel image is linked into this range and stays in it wherever KASLR moves it: KERNEL_IMAGE_SIZE is 1 GiB. */
#define LINUX_IMAGE_START UINT64_C(0xffffffff80000000)
#define LINUX_IMAGE_END UINT64_C(0xffffffffc0000000)

/* Bytes of task and interrupt stacks without KASAN, to which they are aligned (arch/x86/include/asm/page_64_types.h). */
#define LINUX_STACK_SIZE UINT64_C(0x4000)

/* Modules are loaded right behind the range of the image. */
#define LINUX_MODULES_START LINUX_IMAGE_END

#endif
