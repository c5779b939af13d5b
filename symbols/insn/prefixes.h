/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The prefixes of an instruction, read from its bytes (SDM vol. 2, 2.1.1). They are not taken from Capstone, which keeps only
 * one prefix of each group and none of those that it considers part of the opcode. Private to symbols/insn.
 */
#ifndef OUTRIDER_SYMBOLS_INSN_PREFIXES_H
#define OUTRIDER_SYMBOLS_INSN_PREFIXES_H

#include <stdbool.h>
#include <stdint.h>

struct insn_prefixes {
	unsigned len; /* bytes before the opcode, REX included */
	bool lock;
	bool rep; /* 0xf2 or 0xf3 */
	bool ds;
	bool opsize;
	bool addr32;
	uint8_t rex; /* the whole byte; 0 when there is none */
	uint8_t seg; /* INSN_FS, INSN_GS or 0; 64-bit mode ignores the other four segment prefixes */
};

/* Read the prefixes of the instruction of `len` bytes at `code`. The last byte is never taken for a prefix. */
struct insn_prefixes insn_scan_prefixes(const uint8_t *code, unsigned len);

#endif
