/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of a stopped CPU for debuggers. Plain data. */
#ifndef OUTRIDER_REPLAY_CPU_H
#define OUTRIDER_REPLAY_CPU_H

#include "hv/base/x86.h"

#define REPLAY_FXSAVE 512 /* bytes of the FXSAVE area (SDM vol. 1, table 10-2) */

struct replay_cpu {
	struct x86_regs regs;
	uint16_t ds, es, fs, gs;
	uint64_t kernel_gs_base; /* MSR_KERNEL_GS_BASE, which SWAPGS exchanges with the GS base */
	uint64_t cr2, cr8;
	uint8_t fx[REPLAY_FXSAVE]; /* the x87 and SSE registers, as FXSAVE64 stores them */
};

#endif
