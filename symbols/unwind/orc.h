/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ORC: the kernel's own unwind information (Documentation/arch/x86/orc-unwinder.rst). For each stretch of text, it has a rule
 * that computes the caller's stack pointer, return address and frame pointer. Rules are found by binary search in guest memory,
 * so that the tables, several megabytes, are not copied. The tables belong to the guest and are not trusted: an unreadable or
 * invalid rule is treated as missing.
 *
 * Nothing here allocates or takes a lock. All addresses are run-time GVAs.
 */
#ifndef OUTRIDER_SYMBOLS_UNWIND_ORC_H
#define OUTRIDER_SYMBOLS_UNWIND_ORC_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"
#include "symbols/btf/btf.h"
#include "symbols/tables/symtab.h"

/*
 * The base to which a rule adds its offset. Values as in arch/x86/include/asm/orc_types.h up to Linux 6.x. Linux 7.3 has other
 * numbers, which orc_find_rule() translates to these.
 */
enum orc_base {
	ORC_BASE_NONE,	      /* no base: the frame pointer is unchanged, or is among the interrupted registers */
	ORC_BASE_PREV_SP,     /* the caller's stack pointer, which the rule computes first */
	ORC_BASE_DX,	      /* RDX */
	ORC_BASE_DI,	      /* RDI */
	ORC_BASE_BP,	      /* RBP */
	ORC_BASE_SP,	      /* RSP */
	ORC_BASE_R10,	      /* R10 */
	ORC_BASE_R13,	      /* R13 */
	ORC_BASE_BP_INDIRECT, /* the value in memory at RBP + offset */
	ORC_BASE_SP_INDIRECT, /* the value in memory at RSP, plus the offset */
};

/* What lies at the stack pointer that the rule computes. */
enum orc_type {
	ORC_UNDEFINED,	  /* no unwinding from this text */
	ORC_END,	  /* the first frame of a stack: it has no caller */
	ORC_CALL,	  /* the return address lies directly below the caller's stack pointer */
	ORC_REGS,	  /* a struct pt_regs */
	ORC_REGS_PARTIAL, /* only the frame that the CPU pushed: RIP, CS, RFLAGS, RSP, SS */
};

struct orc_rule {
	enum orc_type type;
	bool interrupted;  /* the caller's PC is an interrupted instruction, not a return address */
	uint8_t sp_base;   /* base of the caller's stack pointer: enum orc_base, or a larger value that is not supported */
	uint8_t bp_base;   /* base of the caller's frame pointer: enum orc_base, or a larger value that is not supported */
	int32_t sp_offset; /* bytes */
	int32_t bp_offset; /* bytes */
};

#define ORC_ENTRY_MAX 16 /* bytes */

/* The layout of struct orc_entry in the guest's kernel. */
struct orc_format {
	uint32_t size; /* bytes of an entry, at most ORC_ENTRY_MAX */
	struct btf_member sp_offset, bp_offset, sp_reg, bp_reg, type;
	struct btf_member signal, end; /* size 0 if this kernel has no such member */
	bool renumbered;	       /* the entries number their bases as Linux 7.3 does */
};

/*
 * One table, sorted by address. `ips` points to `count` signed 32-bit numbers: each, added to its own address, gives the first
 * instruction that a rule applies to. `entries` points to the `count` rules in the same order.
 */
struct orc_table {
	uint64_t ips;	  /* GVA */
	uint64_t entries; /* GVA */
	uint32_t count;	  /* 0 if there is no table */
};

/*
 * Find the layout in the kernel's BTF. Returns 0, or -1 with EXIT_INPUT if struct orc_entry is missing or has an unknown
 * layout.
 */
int orc_find_format(const struct btf *btf, struct orc_format *out, struct err *err);

/*
 * Find the table of the kernel image. `kernel` has run-time addresses. Returns 0, or -1 with EXIT_INPUT if the table is missing
 * or invalid.
 */
int orc_find_kernel(const struct symtab *kernel, const struct orc_format *format, struct orc_table *out, struct err *err);

/*
 * Set format->renumbered by reading a sample of the kernel's table: the kernel defines the numbers of the bases as macros, so
 * its BTF does not have them. Most rules are based on RSP, which is 5 in the old numbering and 3 in the new one.
 */
void orc_find_numbering(const struct guest_reader *reader, const struct orc_table *table, struct orc_format *format);

/*
 * Find the table of the module whose struct module is at GVA `module`. The table also covers the module's init text, while that
 * exists. Returns 0, or -1 with EXIT_INPUT and out->count = 0 if the table is missing, unreadable or invalid.
 */
int orc_find_module(const struct guest_reader *reader, const struct btf *btf, uint64_t module, struct orc_table *out,
		    struct err *err);

/*
 * Find the rule for the instruction at `pc`. A table does not record where its last stretch of text ends, so the caller must
 * check that `pc` lies in the text that the table covers. Returns 0 and sets *out, or returns -1 if there is no readable rule.
 */
int orc_find_rule(const struct guest_reader *reader, const struct orc_format *format, const struct orc_table *table,
		  uint64_t pc, struct orc_rule *out);

#endif
