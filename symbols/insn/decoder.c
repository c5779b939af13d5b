/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the Capstone handle, and converts Capstone's register numbers. */
#include "symbols/insn/decoder.h"

#include <stdlib.h>

#define GPR(reg, n) [X86_REG_##reg] = (n) + 1
#define GPR_OLD(a, n) GPR(R##a##X, n), GPR(E##a##X, n), GPR(a##X, n), GPR(a##L, n), GPR(a##H, n)
#define GPR_PTR(a, n) GPR(R##a, n), GPR(E##a, n), GPR(a, n), GPR(a##L, n)
#define GPR_NEW(n) GPR(R##n, n), GPR(R##n##D, n), GPR(R##n##W, n), GPR(R##n##B, n)

/* Values are enum x86_gpr plus 1, so that the 0 of a missing entry means "not a general register". */
static const int8_t gpr_of[X86_REG_ENDING] = {
	GPR_OLD(A, X86_RAX),  GPR_OLD(C, X86_RCX),  GPR_OLD(D, X86_RDX),  GPR_OLD(B, X86_RBX),
	GPR_PTR(SP, X86_RSP), GPR_PTR(BP, X86_RBP), GPR_PTR(SI, X86_RSI), GPR_PTR(DI, X86_RDI),
	GPR_NEW(8),	      GPR_NEW(9),	    GPR_NEW(10),	  GPR_NEW(11),
	GPR_NEW(12),	      GPR_NEW(13),	    GPR_NEW(14),	  GPR_NEW(15),
};

struct insn_decoder *insn_decoder_new(void)
{
	struct insn_decoder *dec = calloc(1, sizeof(*dec));

	if (!dec)
		return NULL;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &dec->cs) != CS_ERR_OK) {
		free(dec);
		return NULL;
	}
	if (cs_option(dec->cs, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK)
		dec->ci = cs_malloc(dec->cs);
	if (!dec->ci) {
		insn_decoder_free(dec);
		return NULL;
	}
	return dec;
}

void insn_decoder_free(struct insn_decoder *dec)
{
	if (!dec)
		return;
	if (dec->ci)
		cs_free(dec->ci, 1);
	cs_close(&dec->cs);
	free(dec);
}

int8_t insn_gpr(unsigned reg)
{
	if (reg == X86_REG_RIP || reg == X86_REG_EIP)
		return INSN_REG_RIP;
	return reg < X86_REG_ENDING ? gpr_of[reg] - 1 : INSN_REG_NONE;
}
