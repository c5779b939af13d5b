/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The prefixes of an instruction, scanned from its bytes (SDM vol. 2, 2.1.1). Capstone's list of prefixes is not enough:
 * Capstone keeps only one prefix of each group, and drops a prefix that Capstone regards as a part of the opcode. Private to
 * symbols/insn.
 */
#ifndef OUTRIDER_SYMBOLS_INSN_PREFIXES_H
#define OUTRIDER_SYMBOLS_INSN_PREFIXES_H

#include <stdbool.h>
#include <stdint.h>

struct insn_prefixes {
	unsigned len; /* bytes before the opcode, including REX */
	bool lock;
	bool rep; /* 0xf2 or 0xf3 */
	bool ds;
	bool opsize;
	bool addr32;
	uint8_t rex; /* the whole byte; 0 if there is no REX prefix */
	uint8_t seg; /* INSN_FS, INSN_GS or 0; 64-bit mode ignores the other four segment prefixes for the segment base */
};

/* Scan the prefixes of the instruction of `len` bytes at `code`. The last byte is always the opcode's, never a prefix. */
struct insn_prefixes insn_scan_prefixes(const uint8_t *code, unsigned len);

#endif
