/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The decoder and its register numbers, for the files that ask Capstone. Private to symbols/insn. */
#ifndef OUTRIDER_SYMBOLS_INSN_DECODER_H
#define OUTRIDER_SYMBOLS_INSN_DECODER_H

#include <capstone.h>

#include "symbols/insn/insn.h"

struct insn_decoder {
	csh cs;
	cs_insn *ci;   /* Capstone's answer for the last insn_decode(); only meaningful when `detailed` is set */
	bool detailed; /* the last insn_decode() asked Capstone, and Capstone knew the instruction */
};

/* The enum x86_gpr that a Capstone register is, or is a part of. RIP and EIP are INSN_REG_RIP, all others INSN_REG_NONE. */
int8_t insn_gpr(unsigned capstone_reg);

#endif
