/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one x86-64 instruction does to memory. Capstone decodes the instruction, and this component reduces Capstone's detail to
 * the few facts that a race detector needs. A struct insn is small enough to be kept with every sample point, so that the hit
 * path decodes nothing.
 */
#ifndef OUTRIDER_SYMBOLS_INSN_INSN_H
#define OUTRIDER_SYMBOLS_INSN_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/x86.h"

#define INSN_MAX_LEN 15 /* bytes */

/* movs and cmps access memory twice. The implicit stack slot of push, pop or call through memory does not count. */
#define INSN_MAX_MEM 2

/* What an access does to memory. The two bits may be combined. */
enum insn_rw { INSN_READ = 1, INSN_WRITE = 2 };

enum insn_flag {
	/* The instruction has a LOCK prefix, or is locked without the prefix (xchg with memory). */
	INSN_LOCKED = 1 << 0,
	/* The instruction has a memory operand that it does not access: lea, nop, prefetch, clflush, invlpg and so on. */
	INSN_NO_ACCESS = 1 << 1,
	/* Every memory operand is relative to RSP, or the instruction accesses only its implicit stack slot. */
	INSN_STACK = 1 << 2,
	/* A memory operand is relative to GS, which the kernel uses for per-CPU data. */
	INSN_GS = 1 << 3,
	/* A memory operand is relative to FS. */
	INSN_FS = 1 << 4,
	/* The instruction is a string instruction with REP, REPE or REPNE, which handles up to RCX elements. */
	INSN_REP = 1 << 5,
	/* The instruction is a string instruction: RFLAGS.DF says in which direction its addresses move. */
	INSN_STRING = 1 << 6,
	/* The instruction may change RIP other than to the next instruction: jmp, jcc, call, ret, iret, int3, ud2 and so on. */
	INSN_BRANCH = 1 << 7,
	/* The instruction is a call, near or far. */
	INSN_CALL = 1 << 8,
	/* The instruction is a return: ret, retf or iret. */
	INSN_RET = 1 << 9,
	/* The instruction is the one-byte breakpoint 0xcc. */
	INSN_INT3 = 1 << 10,
	/* The instruction moves data between memory and a port: ins or outs. */
	INSN_PORT_IO = 1 << 11,
	/* The instruction accesses memory that mem[] does not describe: gather, xsave, enter, vector masks. Never sampled. */
	INSN_INDIRECT = 1 << 12,
	/* A memory operand is relative to RIP. */
	INSN_RIP_REL = 1 << 13,
	/*
	 * The instruction has a DS prefix (0x3e). On a machine with one CPU, Linux overwrites LOCK prefixes by it
	 * (arch/x86/kernel/alternative.c).
	 */
	INSN_DS_PREFIX = 1 << 14,
};

/* Values of insn_mem.base and insn_mem.index outside enum x86_gpr. */
#define INSN_REG_NONE (-1)
#define INSN_REG_RIP (-2) /* only in insn_mem.base: the address of the next instruction */

/* One memory operand. Its address is segment base + base + index * scale + disp. */
struct insn_mem {
	int64_t disp;  /* the displacement, sign-extended */
	uint16_t size; /* bytes accessed; for a string instruction, the bytes of one element */
	uint8_t rw;    /* enum insn_rw bits */
	int8_t base;   /* enum x86_gpr, INSN_REG_RIP or INSN_REG_NONE */
	int8_t index;  /* enum x86_gpr or INSN_REG_NONE */
	uint8_t scale; /* 1, 2, 4 or 8 */
	uint8_t seg;   /* INSN_FS, INSN_GS, or 0 if the segment base is 0 */
	bool addr32;   /* the 0x67 prefix is present: the address is truncated to 32 bits before the segment base is added */
};

struct insn {
	uint64_t addr;	/* the GVA that was passed to insn_decode() */
	uint16_t flags; /* enum insn_flag bits */
	uint8_t len;	/* bytes */
	uint8_t nmem;	/* number of explicit memory operands that the instruction accesses; at most INSN_MAX_MEM */
	uint8_t bytes[INSN_MAX_LEN];	   /* the first `len` bytes are valid */
	struct insn_mem mem[INSN_MAX_MEM]; /* the first `nmem` are valid */
	/*
	 * One bit for each enum x86_gpr that the instruction writes. After the instruction has run, the address of an operand
	 * whose base or index is such a register can no longer be calculated.
	 */
	uint16_t regs_written;
};

/* Owns a Capstone handle. Two threads must not use a decoder at the same time: each thread makes its own. */
struct insn_decoder;

/* Make a decoder. Returns NULL if memory runs out or Capstone cannot be set up. Free it with insn_decoder_free(). */
struct insn_decoder *insn_decoder_new(void);

/* Free a decoder. `dec` may be NULL. */
void insn_decoder_free(struct insn_decoder *dec);

/*
 * Decode the first instruction of the `len` bytes at `code`, as if it were at GVA `addr`. Returns the instruction's length in
 * bytes and fills in *out. Returns 0, and leaves *out alone, if the bytes are not a valid instruction. Allocates nothing.
 */
unsigned insn_decode(struct insn_decoder *dec, const uint8_t *code, size_t len, uint64_t addr, struct insn *out);

/* One access that an instruction makes with given register values. */
struct mem_access {
	uint64_t gva;  /* the lowest address */
	uint32_t size; /* bytes; for a REP instruction the bytes of all elements, but at most 1 MiB */
	uint8_t rw;    /* enum insn_rw bits */
};

/*
 * Calculate the accesses that `insn` will make with `regs`, whose RIP is the instruction's address (SDM vol. 1, 3.7.5), and
 * write them to out[]. Returns their number: 0 for a REP instruction whose RCX is 0, otherwise insn->nmem. If RFLAGS.DF is set,
 * a string instruction goes down in memory, but mem_access.gva is still the lowest address. Called for every hit: does not
 * allocate, lock or read guest memory.
 */
unsigned insn_accesses(const struct insn *insn, const struct x86_regs *regs, struct mem_access out[INSN_MAX_MEM]);

#endif
