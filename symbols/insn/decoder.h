/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Capstone handle and its register numbers, for the files that use Capstone's detail. Private to symbols/insn. */
#ifndef OUTRIDER_SYMBOLS_INSN_DECODER_H
#define OUTRIDER_SYMBOLS_INSN_DECODER_H

#include <capstone.h>

#include "symbols/insn/insn.h"

struct insn_decoder {
	csh cs;
	cs_insn *ci;   /* Capstone's result of the last insn_decode(); only valid when `detailed` is set */
	bool detailed; /* the last insn_decode() called Capstone, and Capstone knew the instruction */
};

/*
 * Returns the enum x86_gpr of a Capstone register, which may be a part of that register; INSN_REG_RIP for RIP and EIP; or
 * INSN_REG_NONE for any other register.
 */
int8_t insn_gpr(unsigned capstone_reg);

#endif
