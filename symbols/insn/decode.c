/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes one instruction by Capstone, and corrects what Capstone 4 gets wrong. */
#include <string.h>

#include "symbols/insn/decoder.h"
#include "symbols/insn/insn.h"
#include "symbols/insn/length.h"
#include "symbols/insn/prefixes.h"
#include "symbols/insn/strings.h"
#include "symbols/insn/facts.h"

/* The opcode of udb, a one-byte instruction that raises #UD. Defined in 2025; Linux uses it for control-flow traps. */
#define UDB 0xd6

static uint8_t operand_rw(unsigned id, uint16_t facts, unsigned position)
{
	if (id == X86_INS_XCHG)
		return INSN_READ | INSN_WRITE;
	if (position > 0)
		return INSN_READ;
	return (facts & F_FIRST_READ ? INSN_READ : 0) | (facts & F_FIRST_WRITE ? INSN_WRITE : 0);
}

/*
 * Returns the size of a memory operand in bytes. Capstone 4 has wrong sizes for x87 control and status words and for far
 * pointers.
 */
static uint16_t operand_size(const struct insn_prefixes *p, unsigned id, const cs_x86_op *op)
{
	if (id == X86_INS_FNSTSW || id == X86_INS_FNSTCW || id == X86_INS_FLDCW)
		return 2;
	if (id == X86_INS_LCALL || id == X86_INS_LJMP)
		return p->rex & 8 ? 10 : p->opsize ? 4 : 6;
	return op->size;
}

static void mem_operand(struct insn *out, const struct insn_prefixes *p, unsigned id, const cs_x86_op *op, uint8_t rw)
{
	if (!rw || !op->size || out->nmem == INSN_MAX_MEM) {
		out->flags |= INSN_INDIRECT;
		return;
	}
	out->mem[out->nmem++] = (struct insn_mem){
		.disp = op->mem.disp,
		.size = operand_size(p, id, op),
		.rw = rw,
		.base = insn_gpr(op->mem.base),
		.index = insn_gpr(op->mem.index),
		.scale = (uint8_t)op->mem.scale,
		.seg = p->seg,
		.addr32 = p->addr32,
	};
}

/* Collect from the explicit operands the memory that they access and the registers that the instruction writes. */
static void operands(struct insn *out, const struct insn_prefixes *p, const cs_insn *ci, uint16_t facts)
{
	const cs_x86 *x = &ci->detail->x86;
	bool has_mem = false, bit_index = false;

	for (unsigned i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];

		if (op->type == X86_OP_MEM) {
			has_mem = true;
			if (!(facts & (F_NO_ACCESS | F_OPAQUE)))
				mem_operand(out, p, ci->id, op, operand_rw(ci->id, facts, i));
		} else if (op->type == X86_OP_REG) {
			bool written = i == 0 ? !(facts & F_REG_READ) : i == 1 && facts & F_REG2_WRITE;
			int8_t gpr = insn_gpr(op->reg);

			if (written && gpr >= 0)
				out->regs_written |= 1u << gpr;
			bit_index |= i == 1 && facts & F_BIT_STRING;
		}
	}
	if (has_mem && facts & F_NO_ACCESS)
		out->flags |= INSN_NO_ACCESS;
	if (has_mem && bit_index)
		out->flags |= INSN_INDIRECT;
}

static void implicit_registers(struct insn *out, const cs_detail *detail, uint16_t facts)
{
	if (facts & F_RAX_WRITE)
		out->regs_written |= 1u << X86_RAX;
	for (unsigned i = 0; i < detail->regs_write_count; i++) {
		int8_t gpr = insn_gpr(detail->regs_write[i]);

		if (gpr >= 0)
			out->regs_written |= 1u << gpr;
	}
}

static void operand_flags(struct insn *out, uint16_t facts)
{
	bool all_stack = out->nmem > 0 || facts & F_STACK;

	for (unsigned i = 0; i < out->nmem; i++) {
		const struct insn_mem *m = &out->mem[i];

		out->flags |= m->seg;
		if (m->base == INSN_REG_RIP)
			out->flags |= INSN_RIP_REL;
		all_stack &= m->base == X86_RSP && !m->seg;
	}
	if (all_stack)
		out->flags |= INSN_STACK;
}

static void classify(struct insn *out, const struct insn_prefixes *p, const cs_insn *ci)
{
	uint16_t facts = insn_facts(ci->id);
	uint8_t opcode = out->bytes[p->len];

	if (facts & F_BRANCH)
		out->flags |= INSN_BRANCH;
	if (facts & F_CALL)
		out->flags |= INSN_CALL;
	if (facts & F_RET)
		out->flags |= INSN_RET;
	if (facts & F_OPAQUE)
		out->flags |= INSN_INDIRECT;
	operands(out, p, ci, facts);
	implicit_registers(out, ci->detail, facts);
	/*
	 * Do not sample instructions with an EVEX prefix (0x62): an access may be smaller than its operand, since masks leave
	 * out elements and a broadcast reads only one element. The kernel does not access its shared data by these
	 * instructions, so no race is missed.
	 */
	if (opcode == 0x62 && out->nmem) {
		out->nmem = 0;
		out->flags |= INSN_INDIRECT;
	}
	if (p->lock || (ci->id == X86_INS_XCHG && out->nmem))
		out->flags |= INSN_LOCKED;
	operand_flags(out, facts);
}

/* Returns true for ud0 and ud1, which Capstone 4 decodes as two bytes, without their ModRM byte (SDM vol. 2, UD). */
static bool length_is_wrong(const cs_insn *ci)
{
	return ci->id == X86_INS_UD2B || ci->id == X86_INS_UD0;
}

/* Returns true for ud0, ud1 and udb, which always fault. The kernel's trap handlers decode ud1 and udb to find the cause. */
static bool is_undefined(const uint8_t *opcode)
{
	return opcode[0] == UDB || (opcode[0] == 0x0f && (opcode[1] == 0xb9 || opcode[1] == 0xff));
}

/* Decode an instruction that Capstone does not know, or to which Capstone gives a wrong length. */
static unsigned decode_unknown(const uint8_t *code, size_t len, uint64_t addr, struct insn *out)
{
	struct insn_prefixes p = insn_scan_prefixes(code, (unsigned)len);
	bool has_mem = false, undefined;
	unsigned n = code[0] == UDB ? 1 : insn_regular_length(code, len, p.len, &has_mem);

	if (!n)
		return 0;
	undefined = is_undefined(code + p.len);
	*out = (struct insn){.addr = addr, .len = (uint8_t)n};
	memcpy(out->bytes, code, n);
	/* Assume that an instruction of unknown effect writes all registers. */
	out->regs_written = undefined ? 0 : UINT16_MAX;
	if (undefined)
		out->flags = INSN_BRANCH | (has_mem ? INSN_NO_ACCESS : 0);
	else if (has_mem)
		out->flags = INSN_INDIRECT;
	return n;
}

unsigned insn_decode(struct insn_decoder *dec, const uint8_t *code, size_t len, uint64_t addr, struct insn *out)
{
	const size_t avail = len < INSN_MAX_LEN ? len : INSN_MAX_LEN;
	size_t left = avail;
	const uint8_t *next = code;
	uint64_t next_addr = addr;
	struct insn_prefixes p;

	dec->detailed = false;
	if (!avail)
		return 0;
	/* Do not call Capstone for INT3, which fills the gaps between functions: half of the "instructions" in a kernel. */
	if (code[0] == X86_INT3) {
		*out = (struct insn){.addr = addr, .len = 1, .bytes = {X86_INT3}, .flags = INSN_INT3 | INSN_BRANCH};
		return 1;
	}
	if (!cs_disasm_iter(dec->cs, &next, &left, &next_addr, dec->ci) || length_is_wrong(dec->ci))
		return decode_unknown(code, avail, addr, out);
	dec->detailed = true;
	*out = (struct insn){.addr = addr, .len = (uint8_t)(next - code)};
	memcpy(out->bytes, code, out->len);
	p = insn_scan_prefixes(out->bytes, out->len);
	if (p.ds)
		out->flags |= INSN_DS_PREFIX;
	if (insn_decode_string(out, &p, out->bytes[p.len]))
		operand_flags(out, 0);
	else
		classify(out, &p, dec->ci);
	return out->len;
}
