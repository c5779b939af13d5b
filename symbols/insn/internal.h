/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that ask Capstone. */
#ifndef OUTRIDER_SYMBOLS_INSN_INTERNAL_H
#define OUTRIDER_SYMBOLS_INSN_INTERNAL_H

#include <capstone.h>

#include "symbols/insn/insn.h"

struct insn_decoder {
	csh cs;
	cs_insn *ci; /* after insn_decode(): of that instruction if `detailed` */
	bool detailed;
};

/* enum x86_gpr of a register or of a part of it; INSN_REG_RIP, INSN_REG_NONE. */
int8_t insn_gpr(unsigned capstone_reg);

#endif
