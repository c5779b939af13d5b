/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contents of an ELF core. Plain data, part of vmcore.h. */
#ifndef OUTRIDER_REPLAY_VMCORE_CORE_H
#define OUTRIDER_REPLAY_VMCORE_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "hv/replay/cpu.h"
#include "hv/vmm/ram.h"

#define VMCOREINFO_MAX 4096 /* one page, as in the kernel */

/* Facts about the kernel that a reader of the core needs. */
struct vmcore_kernel {
	char info[VMCOREINFO_MAX]; /* VMCOREINFO: facts that the kernel provides, in lines of KEY=VALUE */
	size_t info_len;	   /* in bytes; 0: unknown */
	uint64_t direct_map;	   /* GVA at which the kernel maps GPA 0; 0: unknown */
	uint64_t image, image_len; /* GVA and length in bytes of the kernel's own image; 0: unknown */
	uint64_t image_gpa;	   /* GPA of the image */
};

struct vmcore {
	const struct ram *ram;
	const struct replay_cpu *cpus;
	unsigned count;			    /* number of CPUs */
	const int32_t *pids;		    /* PID of the task on each CPU, below 0: unknown; NULL: all unknown */
	const struct vmcore_kernel *kernel; /* NULL: unknown; then crash and drgn must be told where the kernel is */
};

#endif
