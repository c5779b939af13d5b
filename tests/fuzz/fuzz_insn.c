/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machine code: what accesses memory, and where. */
#include "symbols/insn/flow.h"
#include "symbols/insn/insn.h"
#include "tests/fuzz/fuzz.h"

#define TEXT 0xffffffff81000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct insn_decoder *decoder;
	struct mem_access accesses[INSN_MAX_MEM];
	struct x86_regs regs = {.rflags = 0x246};
	struct insn_branch branch;
	struct insn insn;
	unsigned len;

	if (!decoder)
		decoder = insn_decoder_new();
	fuzz_require(decoder);
	for (size_t at = 0; at < size; at += len ? len : 1) {
		len = insn_decode(decoder, data + at, size - at, TEXT + at, &insn);
		fuzz_require(len <= size - at && len <= INSN_MAX_LEN);
		insn_call_may_end(data + at, size - at);
		if (!len)
			continue;
		fuzz_require(insn.len == len && insn.nmem <= INSN_MAX_MEM);
		for (unsigned i = 0; i < X86_GPRS; i++)
			regs.gpr[i] = (uint64_t)data[at] << (i * 4);
		fuzz_require(insn_accesses(&insn, &regs, accesses) <= insn.nmem);
		insn_direct_branch(&insn, &branch);
		insn_ends_flow(&insn);
	}
	return 0;
}
