/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/insn/prefixes.h"

#include "symbols/insn/insn.h"

static bool take_prefix(struct insn_prefixes *p, uint8_t byte)
{
	switch (byte) {
	case 0xf0:
		p->lock = true;
		return true;
	case 0xf2:
	case 0xf3:
		p->rep = true;
		return true;
	case 0x3e:
		p->ds = true;
		return true;
	case 0x26:
	case 0x2e:
	case 0x36:
		return true;
	case 0x64:
		p->seg = INSN_FS;
		return true;
	case 0x65:
		p->seg = INSN_GS;
		return true;
	case 0x66:
		p->opsize = true;
		return true;
	case 0x67:
		p->addr32 = true;
		return true;
	default:
		return false;
	}
}

struct insn_prefixes insn_scan_prefixes(const uint8_t *code, unsigned len)
{
	struct insn_prefixes p = {0};

	while (p.len + 1 < len && take_prefix(&p, code[p.len]))
		p.len++;
	if (p.len + 1 < len && (code[p.len] & 0xf0) == 0x40)
		p.rex = code[p.len++];
	return p;
}
