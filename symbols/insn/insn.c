/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoding. Prefixes are read here and not taken from Capstone, which keeps only one of each group and none of those it
 * considers part of the opcode.
 */
#include <stdlib.h>
#include <string.h>

#include "symbols/insn/internal.h"
#include "symbols/insn/length.h"
#include "symbols/insn/table.h"

#define UDB 0xd6 /* one byte, since 2025; Linux uses it for kernel control-flow traps */

/* Legacy prefixes and the opcode's place, from the bytes (SDM vol. 2, 2.1.1). */
struct prefixes {
	unsigned len; /* bytes before the opcode, REX included */
	bool lock, rep, ds, opsize, addr32;
	uint8_t rex;
	uint8_t seg; /* 0, INSN_FS or INSN_GS; the other four are ignored in 64-bit mode */
};

#define GPR(reg, n) [X86_REG_##reg] = (n) + 1
#define GPR_OLD(a, n) GPR(R##a##X, n), GPR(E##a##X, n), GPR(a##X, n), GPR(a##L, n), GPR(a##H, n)
#define GPR_PTR(a, n) GPR(R##a, n), GPR(E##a, n), GPR(a, n), GPR(a##L, n)
#define GPR_NEW(n) GPR(R##n, n), GPR(R##n##D, n), GPR(R##n##W, n), GPR(R##n##B, n)

/* Register number + 1, so that everything that is not a GPR is 0. */
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

static bool take_prefix(struct prefixes *p, uint8_t byte)
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

static struct prefixes scan_prefixes(const uint8_t *code, unsigned len)
{
	struct prefixes p = {0};

	while (p.len + 1 < len && take_prefix(&p, code[p.len]))
		p.len++;
	if (p.len + 1 < len && (code[p.len] & 0xf0) == 0x40)
		p.rex = code[p.len++];
	return p;
}

static void add_mem(struct insn *out, const struct prefixes *p, int8_t base, uint16_t size, uint8_t rw)
{
	out->mem[out->nmem++] = (struct insn_mem){
		.size = size,
		.rw = rw,
		.base = base,
		.index = INSN_REG_NONE,
		.scale = 1,
		.seg = base == X86_RDI ? 0 : p->seg, /* [rDI] is always ES */
		.addr32 = p->addr32,
	};
}

/* The string instructions (SDM vol. 2, MOVS and its like), whose Capstone operands say little. False: not one of them. */
static bool string_insn(struct insn *out, const struct prefixes *p, uint8_t opcode)
{
	const uint16_t word = p->rex & 8 ? 8 : p->opsize ? 2 : 4;
	const uint16_t size = opcode & 1 ? word : 1;
	const uint16_t pointers = 1u << X86_RSI | 1u << X86_RDI;

	switch (opcode & 0xfe) {
	case 0xa4: /* movs */
		add_mem(out, p, X86_RSI, size, INSN_READ);
		add_mem(out, p, X86_RDI, size, INSN_WRITE);
		out->regs_written = pointers;
		break;
	case 0xa6: /* cmps */
		add_mem(out, p, X86_RSI, size, INSN_READ);
		add_mem(out, p, X86_RDI, size, INSN_READ);
		out->regs_written = pointers;
		break;
	case 0xaa: /* stos */
		add_mem(out, p, X86_RDI, size, INSN_WRITE);
		out->regs_written = 1u << X86_RDI;
		break;
	case 0xac: /* lods */
		add_mem(out, p, X86_RSI, size, INSN_READ);
		out->regs_written = 1u << X86_RSI | 1u << X86_RAX;
		break;
	case 0xae: /* scas */
		add_mem(out, p, X86_RDI, size, INSN_READ);
		out->regs_written = 1u << X86_RDI;
		break;
	case 0x6c: /* ins: ports move at most four bytes */
		add_mem(out, p, X86_RDI, size == 8 ? 4 : size, INSN_WRITE);
		out->regs_written = 1u << X86_RDI;
		out->flags |= INSN_PORT_IO;
		break;
	case 0x6e: /* outs */
		add_mem(out, p, X86_RSI, size == 8 ? 4 : size, INSN_READ);
		out->regs_written = 1u << X86_RSI;
		out->flags |= INSN_PORT_IO;
		break;
	default:
		return false;
	}
	out->flags |= INSN_STRING;
	if (p->rep) {
		out->flags |= INSN_REP;
		out->regs_written |= 1u << X86_RCX;
	}
	return true;
}

static uint8_t operand_rw(unsigned id, uint16_t facts, unsigned position)
{
	if (id == X86_INS_XCHG)
		return INSN_READ | INSN_WRITE;
	if (position > 0)
		return INSN_READ;
	return (facts & F_FIRST_READ ? INSN_READ : 0) | (facts & F_FIRST_WRITE ? INSN_WRITE : 0);
}

/* Capstone's operand size, but for the two kinds it gets wrong. */
static uint16_t operand_size(const struct prefixes *p, unsigned id, const cs_x86_op *op)
{
	if (id == X86_INS_FNSTSW || id == X86_INS_FNSTCW || id == X86_INS_FLDCW)
		return 2;
	if (id == X86_INS_LCALL || id == X86_INS_LJMP)
		return p->rex & 8 ? 10 : p->opsize ? 4 : 6;
	return op->size;
}

static void mem_operand(struct insn *out, const struct prefixes *p, unsigned id, const cs_x86_op *op, uint8_t rw)
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

/* Explicit operands: what they access, and which registers are no longer what they were. */
static void operands(struct insn *out, const struct prefixes *p, const cs_insn *ci, uint16_t facts)
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

static void classify(struct insn *out, const struct prefixes *p, const cs_insn *ci)
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
	/* EVEX: masks leave elements alone and broadcasts read one; no kernel data structure is accessed that way. */
	if (opcode == 0x62 && out->nmem) {
		out->nmem = 0;
		out->flags |= INSN_INDIRECT;
	}
	if (p->lock || (ci->id == X86_INS_XCHG && out->nmem))
		out->flags |= INSN_LOCKED;
	operand_flags(out, facts);
}

/* Capstone takes ud0 and ud1 to be two bytes; they have a ModRM (SDM vol. 2, UD). */
static bool length_is_wrong(const cs_insn *ci)
{
	return ci->id == X86_INS_UD2B || ci->id == X86_INS_UD0;
}

/* ud0, ud1 and udb: made to fault; ud1 and udb carry what the kernel's trap handlers look at. */
static bool is_undefined(const uint8_t *opcode)
{
	return opcode[0] == UDB || (opcode[0] == 0x0f && (opcode[1] == 0xb9 || opcode[1] == 0xff));
}

static unsigned decode_unknown(const uint8_t *code, size_t len, uint64_t addr, struct insn *out)
{
	struct prefixes p = scan_prefixes(code, (unsigned)len);
	bool has_mem = false, undefined;
	unsigned n = code[0] == UDB ? 1 : insn_regular_length(code, len, p.len, &has_mem);

	if (!n)
		return 0;
	undefined = is_undefined(code + p.len);
	*out = (struct insn){.addr = addr, .len = (uint8_t)n};
	memcpy(out->bytes, code, n);
	/* Which register it writes is not known either: any may be stale. */
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
	struct prefixes p;

	dec->detailed = false;
	if (!avail)
		return 0;
	/* What fills the gaps between functions, half of all "instructions" in a kernel's text, needs no Capstone. */
	if (code[0] == X86_INT3) {
		*out = (struct insn){.addr = addr, .len = 1, .bytes = {X86_INT3}, .flags = INSN_INT3 | INSN_BRANCH};
		return 1;
	}
	if (!cs_disasm_iter(dec->cs, &next, &left, &next_addr, dec->ci) || length_is_wrong(dec->ci))
		return decode_unknown(code, avail, addr, out);
	dec->detailed = true;
	*out = (struct insn){.addr = addr, .len = (uint8_t)(next - code)};
	memcpy(out->bytes, code, out->len);
	p = scan_prefixes(out->bytes, out->len);
	if (p.ds)
		out->flags |= INSN_DS_PREFIX;
	if (string_insn(out, &p, out->bytes[p.len]))
		operand_flags(out, 0);
	else
		classify(out, &p, dec->ci);
	return out->len;
}
