/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goes into an ELF core. Plain data, part of vmcore.h. */
#ifndef OUTRIDER_REPLAY_VMCORE_CORE_H
#define OUTRIDER_REPLAY_VMCORE_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "hv/replay/cpu.h"
#include "hv/vmm/ram.h"

#define VMCOREINFO_MAX 4096 /* The kernel has a page for it. */

/* What the reader of a core must know of the kernel in it. */
struct vmcore_kernel {
	char info[VMCOREINFO_MAX]; /* VMCOREINFO: what the kernel says of itself, in lines of KEY=VALUE. */
	size_t info_len;	   /* In bytes. 0: it is not known. */
	uint64_t direct_map;	   /* The GVA at which the kernel maps GPA 0. 0: it is not known. */
	uint64_t image, image_len; /* The GVA of the kernel's own image, and its length in bytes. 0: it is not known. */
	uint64_t image_gpa;	   /* The GPA of the image. */
};

struct vmcore {
	const struct ram *ram;
	const struct replay_cpu *cpus;
	unsigned count;	     /* How many CPUs there are. */
	const int32_t *pids; /* PID of the task that runs on each CPU, below 0: not known. NULL: none is known. */
	const struct vmcore_kernel *kernel; /* NULL: nothing is known. Then crash and drgn must be told where the kernel is. */
};

#endif
