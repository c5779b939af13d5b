/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/dwarf/effect.h"

#include <string.h>

#include "symbols/dwarf/sweep.h"

/* The decoded fields of an instruction with REX.W, a one-byte opcode and ModRM. */
struct form {
	uint8_t opcode;
	const uint8_t *modrm;
	int reg, rm;  /* Fields of ModRM, extended by REX. */
	unsigned mod; /* Field of ModRM. */
};

/* Decode the instruction's fields. Returns false if the instruction has another form. */
static bool read_form(const struct insn *i, struct form *f)
{
	size_t at = 0;
	uint8_t rex;

	while (at < i->len && (i->bytes[at] == 0x65 || i->bytes[at] == 0x3e || i->bytes[at] == 0x2e))
		at++;
	if (at + 3 > i->len || (i->bytes[at] & 0xf8) != 0x48)
		return false;
	rex = i->bytes[at];
	*f = (struct form){.opcode = i->bytes[at + 1], .modrm = i->bytes + at + 2};
	f->mod = *f->modrm >> 6;
	f->reg = (*f->modrm >> 3 & 7) | (rex & 4) << 1;
	f->rm = (*f->modrm & 7) | (rex & 1) << 3;
	return true;
}

static int64_t signed_at(const uint8_t *bytes, size_t width)
{
	int32_t wide;

	if (width == 1)
		return (int8_t)*bytes;
	memcpy(&wide, bytes, sizeof(wide));
	return wide;
}

/* Describe a lea with a base and a displacement, or relative to RIP. A lea with an index stays DI_UNKNOWN. */
static void from_lea(const struct insn *i, const struct form *f, struct di_origin *out)
{
	const uint8_t *disp = f->modrm + 1;
	size_t width = f->mod == 1 ? 1 : f->mod == 2 || (!f->mod && (f->rm & 7) == 5) ? 4 : 0;

	if ((f->rm & 7) == 4) {
		if ((*disp & 0x3f) != 0x24 || f->mod == 0)
			return;
		disp++;
	}
	if (disp + width != i->bytes + i->len)
		return;
	if (!f->mod && (f->rm & 7) == 5) {
		out->kind = DI_ADDRESS;
		out->addr = i->addr + i->len + (uint64_t)signed_at(disp, 4);
		return;
	}
	out->kind = DI_SUM;
	out->reg = f->rm;
	out->disp = width ? signed_at(disp, width) : 0;
}

/* Describe a mov of eight bytes from memory into the register. */
static void from_load(const struct insn *i, bool relocatable, struct di_origin *out)
{
	const struct insn_mem *m = &i->mem[0];

	if (i->nmem != 1 || m->size != 8 || m->index != INSN_REG_NONE || m->addr32 || m->seg == INSN_FS)
		return;
	/* In a module, per-CPU addresses are only known after loading. In the kernel they are offsets, as in its DWARF. */
	if (m->seg && (relocatable || m->base >= 0))
		return;
	out->kind = DI_LOAD;
	out->disp = m->disp;
	out->reg = m->base;
	if (m->base >= 0)
		return;
	out->reg = -1;
	out->addr = (uint64_t)m->disp + (m->base == INSN_REG_RIP ? i->addr + i->len : 0);
}

/* Describe an add or sub of a constant to the register itself. */
static void from_arithmetic(const struct insn *i, const struct form *f, struct di_origin *out)
{
	int64_t constant = signed_at(f->modrm + 1, f->opcode == 0x83 ? 1 : 4);
	int which = *f->modrm >> 3 & 7;

	if (f->modrm + 1 + (f->opcode == 0x83 ? 1 : 4) != i->bytes + i->len || (which != 0 && which != 5))
		return;
	out->kind = DI_SUM;
	out->reg = f->rm;
	out->disp = which ? -constant : constant;
}

void di_effect(const struct insn *i, int reg, bool relocatable, struct di_origin *out)
{
	struct form f;

	*out = (struct di_origin){.pc = i->addr};
	if (reg == X86_RAX && di_call_target(i)) {
		out->kind = DI_RETURN;
		out->addr = di_call_target(i);
	}
	if (!read_form(i, &f))
		return;
	if (f.opcode == 0x8b && f.mod == 3 && f.reg == reg) {
		*out = (struct di_origin){.kind = DI_SUM, .pc = i->addr, .reg = f.rm};
	} else if (f.opcode == 0x89 && f.mod == 3 && f.rm == reg) {
		*out = (struct di_origin){.kind = DI_SUM, .pc = i->addr, .reg = f.reg};
	} else if (f.opcode == 0x8b && f.mod != 3 && f.reg == reg) {
		from_load(i, relocatable, out);
	} else if (f.opcode == 0x8d && f.mod != 3 && f.reg == reg) {
		from_lea(i, &f, out);
	} else if ((f.opcode == 0x81 || f.opcode == 0x83) && f.mod == 3 && f.rm == reg) {
		from_arithmetic(i, &f, out);
	} else if (f.opcode == 0xc7 && f.mod == 3 && f.rm == reg && f.modrm + 5 == i->bytes + i->len) {
		out->kind = DI_ADDRESS;
		out->addr = (uint64_t)signed_at(f.modrm + 1, 4);
	}
}
