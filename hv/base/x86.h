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

#define X86_RFLAGS_CF (1ull << 0)
#define X86_RFLAGS_PF (1ull << 2)
#define X86_RFLAGS_AF (1ull << 4)
#define X86_RFLAGS_ZF (1ull << 6)
#define X86_RFLAGS_SF (1ull << 7)
#define X86_RFLAGS_TF (1ull << 8)
#define X86_RFLAGS_IF (1ull << 9)
#define X86_RFLAGS_DF (1ull << 10)
#define X86_RFLAGS_OF (1ull << 11)
#define X86_RFLAGS_RF (1ull << 16)
#define X86_CR4_LA57 (1ull << 12)
#define X86_INT3 0xccu
#define X86_PAGE_SIZE 4096u

/*
 * What makes a debug register trap: the values of a R/W field of DR7 (SDM vol. 3, 18.2.4). There is none for reads alone.
 */
enum x86_dr_type { X86_DR_EXECUTE = 0, X86_DR_WRITE = 1, X86_DR_READWRITE = 3 };

/*
 * The bits of DR7 that say on what debug register `reg` (0 to 3) traps: its type, and its length `len` of 1, 2, 4 or 8 bytes.
 * For X86_DR_EXECUTE the length must be 1. The bits that enable the register are not among them.
 */
static inline uint64_t x86_dr7_condition(unsigned reg, enum x86_dr_type type, unsigned len)
{
	static const uint8_t len_bits[] = {[1] = 0, [2] = 1, [4] = 3, [8] = 2};

	return (uint64_t)((unsigned)type | (unsigned)len_bits[len] << 2) << (16 + 4 * reg);
}

/* Whether `dr7` enables debug register `reg`, for the current task or for all. */
static inline bool x86_dr7_enabled(uint64_t dr7, unsigned reg)
{
	return dr7 >> (2 * reg) & 3;
}

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
