/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The x86-64 register file as every layer sees it, and the few architectural bits more than one of them needs.
 * GPR numbers are the hardware's encoding (SDM vol. 2, table 2-2), so a ModRM/SIB field indexes gpr[] directly.
 */
#ifndef OUTRIDER_BASE_X86_H
#define OUTRIDER_BASE_X86_H

#include <stdbool.h>
#include <stdint.h>

enum x86_gpr { X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP, X86_RSI, X86_RDI, X86_R8, X86_R15 = 15, X86_GPRS };

struct x86_regs {
	uint64_t gpr[X86_GPRS];
	uint64_t rip, rflags;
	uint64_t cr0, cr3, cr4, efer;
	uint64_t fs_base, gs_base; /* of the current mode: in the kernel gs_base is this CPU's per-CPU area */
	uint64_t idt_base;	   /* GVA; 0: not known */
	uint16_t cs, ss;
};

#define X86_RFLAGS_DF (1ull << 10)
#define X86_RFLAGS_IF (1ull << 9)
#define X86_RFLAGS_RF (1ull << 16)
#define X86_CR4_LA57 (1ull << 12)
#define X86_INT3 0xccu
#define X86_PAGE_SIZE 4096u

static inline bool x86_user_mode(const struct x86_regs *regs)
{
	return (regs->cs & 3) == 3;
}

/* Kernel half of the canonical address space. */
static inline bool x86_kernel_address(uint64_t gva)
{
	return gva >= 0xff00000000000000ull;
}

#endif
