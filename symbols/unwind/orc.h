/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ORC is the kernel's own unwind information (Documentation/arch/x86/orc-unwinder.rst). It has a rule for each stretch of text,
 * by which the caller's stack pointer, return address and frame pointer are found. A rule is looked up by binary search in the
 * guest's memory, so that nothing of the megabytes of tables is copied. The tables belong to the guest and are not trusted: a
 * rule that cannot be read, or makes no sense, counts as no rule.
 *
 * Nothing here allocates or locks. All addresses are run-time GVAs.
 */
#ifndef OUTRIDER_SYMBOLS_UNWIND_ORC_H
#define OUTRIDER_SYMBOLS_UNWIND_ORC_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"
#include "symbols/btf/btf.h"
#include "symbols/tables/symtab.h"

/* What the offset of a rule is added to. The values are those of arch/x86/include/asm/orc_types.h. */
enum orc_base {
	ORC_BASE_NONE,	      /* nothing; a frame pointer of this base is unchanged, or among the interrupted registers */
	ORC_BASE_PREV_SP,     /* the caller's stack pointer, once it is known */
	ORC_BASE_DX,	      /* RDX */
	ORC_BASE_DI,	      /* RDI */
	ORC_BASE_BP,	      /* RBP */
	ORC_BASE_SP,	      /* RSP */
	ORC_BASE_R10,	      /* R10 */
	ORC_BASE_R13,	      /* R13 */
	ORC_BASE_BP_INDIRECT, /* RBP; the value is read from the sum's address */
	ORC_BASE_SP_INDIRECT, /* the value is read from RSP's address, and the offset is added to it */
};

/* What lies where the rule finds the caller's stack pointer. */
enum orc_type {
	ORC_UNDEFINED,	  /* the text is never unwound from */
	ORC_END,	  /* this is the first frame of a stack: nothing called it */
	ORC_CALL,	  /* the return address lies right below the caller's stack pointer */
	ORC_REGS,	  /* a struct pt_regs lies there */
	ORC_REGS_PARTIAL, /* only what the CPU itself pushed lies there: RIP, CS, RFLAGS, RSP, SS */
};

struct orc_rule {
	enum orc_type type;
	bool interrupted;  /* the caller's PC is the instruction at which it was interrupted, and no return address */
	uint8_t sp_base;   /* of the caller's stack pointer: enum orc_base, or a larger value that we do not know */
	uint8_t bp_base;   /* of the caller's frame pointer: enum orc_base, or a larger value that we do not know */
	int32_t sp_offset; /* bytes */
	int32_t bp_offset; /* bytes */
};

#define ORC_ENTRY_MAX 16 /* bytes */

/* Where the members of struct orc_entry are in this kernel. */
struct orc_format {
	uint32_t size; /* bytes of an entry, at most ORC_ENTRY_MAX */
	struct btf_member sp_offset, bp_offset, sp_reg, bp_reg, type;
	struct btf_member signal, end; /* size 0 where this kernel has no such member */
};

/*
 * One table, sorted by address. At `ips` are `count` signed 32-bit numbers. Each of them, added to the address where it stands,
 * is the address of the first instruction that the rule applies to. At `entries` are the `count` rules in the same order.
 */
struct orc_table {
	uint64_t ips;	  /* GVA */
	uint64_t entries; /* GVA */
	uint32_t count;	  /* 0 when there is no table */
};

/* Find the format in the kernel's BTF. Returns 0, or -1 with EXIT_INPUT when this kernel has no ORC entries as we know them. */
int orc_find_format(const struct btf *btf, struct orc_format *out, struct err *err);

/*
 * Find the table of the kernel itself, whose symbols `kernel` has run-time addresses. Returns 0, or -1 with EXIT_INPUT when
 * there is none or it makes no sense.
 */
int orc_find_kernel(const struct symtab *kernel, const struct orc_format *format, struct orc_table *out, struct err *err);

/*
 * Find the table of the module whose struct module is at GVA `module`. The table covers the module's init text too while that
 * exists. Returns 0, or -1 with EXIT_INPUT when there is no table, it cannot be read or it makes no sense; out->count is then
 * 0.
 */
int orc_find_module(const struct guest_reader *reader, const struct btf *btf, uint64_t module, struct orc_table *out,
		    struct err *err);

/*
 * Find the rule for the instruction at `pc`. A table does not say where its last stretch of text ends, so the caller must check
 * that `pc` is in the text that the table is for. Returns 0 and *out, or -1 when there is no rule or it cannot be read.
 */
int orc_find_rule(const struct guest_reader *reader, const struct orc_format *format, const struct orc_table *table,
		  uint64_t pc, struct orc_rule *out);

#endif
