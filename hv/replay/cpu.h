/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What debuggers are told of a stopped CPU. Plain data, whoever took it from where. */
#ifndef OUTRIDER_REPLAY_CPU_H
#define OUTRIDER_REPLAY_CPU_H

#include "hv/base/x86.h"

#define REPLAY_FXSAVE 512 /* Bytes of the area of FXSAVE (SDM vol. 1, table 10-2). */

struct replay_cpu {
	struct x86_regs regs;
	uint16_t ds, es, fs, gs;
	uint64_t kernel_gs_base; /* MSR_KERNEL_GS_BASE: what SWAPGS loads. */
	uint64_t cr2, cr8;
	uint8_t fx[REPLAY_FXSAVE]; /* The x87 and SSE registers, as FXSAVE64 writes them. */
};

#endif
