/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one x86-64 instruction does to memory. Capstone decodes; this turns its detail into the few facts a race detector
 * needs, small enough to be kept with every armed sample point, so that nothing is decoded when it is hit.
 */
#ifndef OUTRIDER_SYMBOLS_INSN_INSN_H
#define OUTRIDER_SYMBOLS_INSN_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/x86.h"

#define INSN_MAX_LEN 15
#define INSN_MAX_MEM 2 /* movs, cmps, push/pop/call through memory: one explicit operand and, if wanted, a stack slot */

enum insn_rw { INSN_READ = 1, INSN_WRITE = 2 };

enum insn_flag {
	INSN_LOCKED = 1 << 0,	 /* LOCK prefix, or implicitly locked (xchg with memory) */
	INSN_NO_ACCESS = 1 << 1, /* has a memory operand that it does not access: lea, nop, prefetch, clflush, invlpg... */
	INSN_STACK = 1 << 2,	 /* every operand is RSP-relative, or only the implicit stack slot */
	INSN_GS = 1 << 3,	 /* GS-relative: per-CPU in the kernel */
	INSN_FS = 1 << 4,
	INSN_REP = 1 << 5,    /* REP/REPE/REPNE string instruction: RCX elements */
	INSN_STRING = 1 << 6, /* addresses move by DF */
	INSN_BRANCH = 1 << 7, /* may leave RIP elsewhere than at the next instruction: jmp, jcc, call, ret, iret, syscall... */
	INSN_CALL = 1 << 8,
	INSN_RET = 1 << 9,
	INSN_INT3 = 1 << 10,
	INSN_PORT_IO = 1 << 11,	 /* ins/outs */
	INSN_INDIRECT = 1 << 12, /* accesses memory we do not describe (gather, xsave, enter, vector masks): not sampled */
	INSN_RIP_REL = 1 << 13,
	INSN_DS_PREFIX = 1 << 14, /* 0x3e: what UP alternatives leave of a LOCK prefix */
};

struct insn_mem {
	int64_t disp;
	uint16_t size; /* bytes; of one element for string instructions */
	uint8_t rw;    /* INSN_READ | INSN_WRITE */
	int8_t base;   /* x86_gpr, INSN_REG_RIP, or INSN_REG_NONE */
	int8_t index;
	uint8_t scale;
	uint8_t seg; /* 0, or INSN_FS / INSN_GS */
	bool addr32; /* 0x67 prefix: the effective address is truncated to 32 bits */
};

#define INSN_REG_NONE (-1)
#define INSN_REG_RIP (-2)

struct insn {
	uint64_t addr; /* GVA it was decoded at */
	uint16_t flags;
	uint8_t len;
	uint8_t nmem; /* explicit memory operands that are accessed (0..INSN_MAX_MEM) */
	uint8_t bytes[INSN_MAX_LEN];
	struct insn_mem mem[INSN_MAX_MEM];
	uint16_t regs_written; /* bit per x86_gpr: which base/index registers are stale after the instruction */
};

struct insn_decoder; /* owns a Capstone handle; one per thread */

struct insn_decoder *insn_decoder_new(void);
void insn_decoder_free(struct insn_decoder *dec);

/*
 * Decode one instruction of at most `len` bytes at `code`, as if at GVA `addr`. Returns its length, or 0 when the bytes are not
 * a valid instruction. Allocation-free after insn_decoder_new().
 */
unsigned insn_decode(struct insn_decoder *dec, const uint8_t *code, size_t len, uint64_t addr, struct insn *out);

/* One access an instruction makes with given registers. */
struct mem_access {
	uint64_t gva;
	uint32_t size; /* bytes; the whole run of a REP instruction, saturated at 1 MiB */
	uint8_t rw;
};

/*
 * The accesses `insn` is about to make with `regs` (RIP at the instruction). Returns how many were written to out[], which
 * holds INSN_MAX_MEM: fewer than insn->nmem when RCX is 0. With DF set the lowest address is given.
 * Pure arithmetic: safe on the hit path.
 */
unsigned insn_accesses(const struct insn *insn, const struct x86_regs *regs, struct mem_access out[INSN_MAX_MEM]);

#endif
