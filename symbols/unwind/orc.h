/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ORC, the kernel's own unwind tables (Documentation/arch/x86/orc-unwinder.rst), as they lie in the guest's memory: for each
 * stretch of text a rule by which the caller's stack pointer, return address and frame pointer are found. Looked up by binary
 * search in the guest's memory, so that nothing of the megabytes is copied. The tables are the guest's: a rule that cannot be
 * read or makes no sense is no rule.
 */
#ifndef OUTRIDER_SYMBOLS_UNWIND_ORC_H
#define OUTRIDER_SYMBOLS_UNWIND_ORC_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"
#include "symbols/btf/btf.h"
#include "symbols/tables/symtab.h"

/* What a rule counts from (arch/x86/include/asm/orc_types.h). */
enum orc_base {
	ORC_BASE_NONE,
	ORC_BASE_PREV_SP,
	ORC_BASE_DX,
	ORC_BASE_DI,
	ORC_BASE_BP,
	ORC_BASE_SP,
	ORC_BASE_R10,
	ORC_BASE_R13,
	ORC_BASE_BP_INDIRECT,
	ORC_BASE_SP_INDIRECT,
};

enum orc_type {
	ORC_UNDEFINED,	  /* text that is never unwound from */
	ORC_END,	  /* the first frame of a stack */
	ORC_CALL,	  /* a return address lies below the caller's stack pointer */
	ORC_REGS,	  /* a struct pt_regs lies there */
	ORC_REGS_PARTIAL, /* only what the CPU itself pushed: RIP, CS, RFLAGS, RSP, SS */
};

struct orc_rule {
	enum orc_type type;
	bool interrupted;	      /* the next PC is where a context was interrupted, not a return address */
	uint8_t sp_base, bp_base;     /* enum orc_base, or larger: unknown to us */
	int32_t sp_offset, bp_offset; /* bytes */
};

/* Where the members of struct orc_entry are in this kernel. */
struct orc_format {
	uint32_t size; /* of an entry, at most ORC_ENTRY_MAX */
	struct btf_member sp_offset, bp_offset, sp_reg, bp_reg, type;
	struct btf_member signal, end; /* size 0: no such member */
};

#define ORC_ENTRY_MAX 16

/* One sorted table: `count` signed 32-bit distances from their own place to text, and as many entries. GVAs. */
struct orc_table {
	uint64_t ips, entries;
	uint32_t count; /* 0: no table */
};

/* From the kernel's BTF. -1 with EXIT_INPUT: this kernel has no ORC tables, or none as we know them. */
int orc_find_format(const struct btf *btf, struct orc_format *out, struct err *err);

/* The table of the kernel itself; `kernel` has run-time addresses. -1 with EXIT_INPUT: it has none. */
int orc_find_kernel(const struct symtab *kernel, const struct orc_format *format, struct orc_table *out, struct err *err);

/*
 * The table of the module whose struct module is at GVA `module`. Covers its init text too while that lasts. -1 with
 * EXIT_INPUT: none, or it cannot be read.
 */
int orc_find_module(const struct guest_reader *reader, const struct btf *btf, uint64_t module, struct orc_table *out,
		    struct err *err);

/*
 * The rule for the instruction at `pc`. A table says nothing about where its last stretch ends: that `pc` is in the text that
 * the table is for, is for the caller to check. 0 and *out, or -1: none, or not readable.
 */
int orc_find_rule(const struct guest_reader *reader, const struct orc_format *format, const struct orc_table *table,
		  uint64_t pc, struct orc_rule *out);

#endif
