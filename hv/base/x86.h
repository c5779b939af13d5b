/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The x86-64 registers as all layers use them, and the architectural bits that several layers need. GPR numbers are the
 * hardware's encoding (SDM vol. 2, table 2-2), so that ModRM and SIB fields, with REX, index gpr[] directly.
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
	/* bases of FS and GS in the current mode; in the kernel, gs_base is the GVA of this CPU's per-CPU area */
	uint64_t fs_base, gs_base;
	uint64_t idt_base; /* GVA; 0: unknown */
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
#define X86_CR4_LA57 (1ull << 12) /* 5-level page tables are in use */
#define X86_INT3 0xccu		  /* opcode of the one-byte breakpoint */
#define X86_CALL 0xe8u		  /* opcode of a direct call, which a displacement of 32 bits follows (SDM vol. 2, CALL) */
#define X86_CALL_LEN 5u		  /* bytes of that call */
#define X86_PAGE_SIZE 4096u	  /* bytes */

/*
 * The condition of a debug register: values of an R/W field of DR7 (SDM vol. 3, 18.2.4). The CPU has no condition for reads
 * alone.
 */
enum x86_dr_type { X86_DR_EXECUTE = 0, X86_DR_WRITE = 1, X86_DR_READWRITE = 3 };

/*
 * Returns the R/W and LEN fields of DR7 for debug register `reg` (0 to 3): condition `type` on `len` bytes, 1, 2, 4 or 8. For
 * X86_DR_EXECUTE `len` must be 1. The enable bits are not set.
 */
static inline uint64_t x86_dr7_condition(unsigned reg, enum x86_dr_type type, unsigned len)
{
	static const uint8_t len_bits[] = {[1] = 0, [2] = 1, [4] = 3, [8] = 2};

	return (uint64_t)((unsigned)type | (unsigned)len_bits[len] << 2) << (16 + 4 * reg);
}

/* Returns true if `dr7` enables debug register `reg`, locally or globally. */
static inline bool x86_dr7_enabled(uint64_t dr7, unsigned reg)
{
	return dr7 >> (2 * reg) & 3;
}

static inline bool x86_user_mode(const struct x86_regs *regs)
{
	return (regs->cs & 3) == 3;
}

/* Returns true for an address in the kernel half of the address space, with 4- or 5-level paging. */
static inline bool x86_kernel_address(uint64_t gva)
{
	return gva >= 0xff00000000000000ull;
}

#endif
