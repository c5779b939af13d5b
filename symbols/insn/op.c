/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes what an instruction does to values (see op.h) by Capstone's detail. */
#include <string.h>

#include "symbols/insn/conditions.h"
#include "symbols/insn/decoder.h"
#include "symbols/insn/op.h"

#define ALL_GPRS UINT16_MAX

/*
 * Capstone's bits for the flags that an instruction writes. Capstone's list of written registers is not enough: it lacks RFLAGS
 * for cmpxchg and xadd.
 */
#define MODIFIES_FLAGS                                                                                                      \
	(X86_EFLAGS_MODIFY_AF | X86_EFLAGS_MODIFY_CF | X86_EFLAGS_MODIFY_SF | X86_EFLAGS_MODIFY_ZF | X86_EFLAGS_MODIFY_PF | \
	 X86_EFLAGS_MODIFY_OF)
#define KIND(name, kind) [X86_INS_##name] = INSN_OP_##kind

/*
 * ud2 is treated as a no-op here. Both BUG() and WARN_ON() compile to ud2, and this table cannot distinguish them. The trap
 * handler continues after the ud2 of a WARN_ON(), never after the ud2 of a BUG(). So an analysis that uses this table follows a
 * path after a BUG() that does not exist. That is safe if the extra path can only make the analysis conclude less.
 */
static const uint8_t kind_of[X86_INS_ENDING] = {
	KIND(MOV, MOV),
	KIND(MOVABS, MOV),
	KIND(MOVZX, MOV),
	KIND(AND, AND),
	KIND(OR, OR),
	KIND(XOR, XOR),
	KIND(ADD, ADD),
	KIND(INC, ADD),
	KIND(SUB, SUB),
	KIND(DEC, SUB),
	KIND(SHL, SHL),
	KIND(SAL, SHL),
	KIND(SHR, SHR),
	KIND(TEST, TEST),
	KIND(CMP, CMP),
	KIND(BT, BT),
	KIND(BTS, BTS),
	KIND(BTR, BTR),
	KIND(BTC, BTC),
	KIND(LEA, LEA),
	KIND(JMP, JUMP),
	KIND(CALL, CALL),
	KIND(RET, RET),
	KIND(INT3, STOP),
	KIND(UD2, NOP),
	KIND(NOP, NOP),
	KIND(PAUSE, NOP),
	KIND(JRCXZ, JCC),
	KIND(JECXZ, JCC),
	KIND(LOOP, JCC),
	KIND(LOOPE, JCC),
	KIND(LOOPNE, JCC),
	KIND(PUSH, PUSH),
	KIND(POP, POP),
	INSN_ALL_CC(KIND, CMOV, CMOV),
	INSN_ALL_CC(KIND, SET, SET),
	INSN_ALL_CC(KIND, J, JCC),
};

static bool only_writes_dst(const struct insn_op *op)
{
	/* A write of 8 or 16 bits keeps the other bits of the register, so the result also depends on the old value. */
	if (op->dst.kind != INSN_OPERAND_REG || op->dst.size < 4)
		return false;
	return op->kind == INSN_OP_MOV || op->kind == INSN_OP_LEA || op->kind == INSN_OP_POP;
}

static struct insn_operand operand(const struct insn_op *op, const cs_x86_op *from)
{
	struct insn_operand out = {.size = from->size, .reg = INSN_REG_NONE};

	if (from->type == X86_OP_IMM) {
		out.kind = INSN_OPERAND_IMM;
	} else if (from->type == X86_OP_MEM && op->insn.nmem == 1) {
		out.kind = INSN_OPERAND_MEM;
	} else if (from->type == X86_OP_REG && insn_gpr(from->reg) >= 0) {
		out.kind = INSN_OPERAND_REG;
		out.reg = insn_gpr(from->reg);
		out.high = from->reg == X86_REG_AH || from->reg == X86_REG_BH || from->reg == X86_REG_CH ||
			   from->reg == X86_REG_DH;
	}
	return out;
}

static void read_reg(struct insn_op *op, unsigned reg)
{
	int8_t gpr = insn_gpr(reg);

	if (gpr >= 0)
		op->reads |= (uint16_t)(1u << gpr);
}

/* Count every named register as read, except the register in the first place if it is only written. */
static void find_registers(struct insn_op *op, const cs_detail *detail)
{
	const cs_x86 *x = &detail->x86;
	uint16_t address;
	bool skip_first;

	for (unsigned i = 0; i < x->op_count; i++) {
		if (x->operands[i].type == X86_OP_MEM) {
			read_reg(op, x->operands[i].mem.base);
			read_reg(op, x->operands[i].mem.index);
		}
	}
	address = op->reads;
	op->reads = 0;
	skip_first = only_writes_dst(op);
	for (unsigned i = skip_first ? 1 : 0; i < x->op_count; i++) {
		if (x->operands[i].type == X86_OP_REG)
			read_reg(op, x->operands[i].reg);
	}
	for (unsigned i = 0; i < detail->regs_read_count; i++) {
		read_reg(op, detail->regs_read[i]);
		op->reads_flags |= detail->regs_read[i] == X86_REG_EFLAGS;
	}
	op->sets_flags = x->eflags & MODIFIES_FLAGS;
	for (unsigned i = 0; i < detail->regs_write_count; i++)
		op->sets_flags |= detail->regs_write[i] == X86_REG_EFLAGS;
	op->writes = op->insn.regs_written;
	if (op->insn.flags & INSN_STRING)
		op->reads |= 1u << X86_RSI | 1u << X86_RDI | 1u << X86_RCX | 1u << X86_RAX;
	op->data = op->reads;
	op->reads |= address;
}

static void lea_operands(struct insn_op *op, const cs_x86 *x)
{
	const x86_op_mem *mem = &x->operands[1].mem;

	op->dst = operand(op, &x->operands[0]);
	op->src = (struct insn_operand){.kind = INSN_OPERAND_NONE, .reg = INSN_REG_NONE};
	op->imm = (uint64_t)mem->disp;
	if (mem->index != X86_REG_INVALID || mem->segment != X86_REG_INVALID || insn_gpr(mem->base) < 0)
		return;
	op->src = (struct insn_operand){.kind = INSN_OPERAND_REG, .reg = insn_gpr(mem->base), .size = 8};
}

/*
 * Set the target of a direct call or jump. A return by a jump to a return thunk stays an ordinary jump here: only the name of
 * the target shows that it is a return.
 */
static void branch_target(struct insn_op *op, const cs_x86 *x)
{
	if (op->kind != INSN_OP_RET && x->op_count && x->operands[0].type == X86_OP_IMM)
		op->target = (uint64_t)x->operands[0].imm;
}

/* Sign-extend from `size` bytes to 64 bits. Capstone does so for some immediates only. */
static uint64_t extend(int64_t imm, unsigned size)
{
	unsigned unused = size && size < 8 ? 64 - 8 * size : 0;

	return (uint64_t)((int64_t)((uint64_t)imm << unused) >> unused);
}

/*
 * Set the operands of an instruction with one or two operands that are general registers, memory or immediates. Any other
 * instruction becomes INSN_OP_OTHER.
 */
static void data_operands(struct insn_op *op, unsigned id, const cs_x86 *x)
{
	if (x->op_count < 1 || x->op_count > 2) {
		op->kind = INSN_OP_OTHER;
		return;
	}
	op->dst = operand(op, &x->operands[0]);
	if (x->op_count == 2) {
		op->src = operand(op, &x->operands[1]);
		op->imm = op->src.kind == INSN_OPERAND_IMM ? extend(x->operands[1].imm, op->dst.size) : 0;
	} else if (id == X86_INS_INC || id == X86_INS_DEC || op->kind == INSN_OP_SHL || op->kind == INSN_OP_SHR) {
		op->src = (struct insn_operand){.kind = INSN_OPERAND_IMM, .reg = INSN_REG_NONE, .size = 1};
		op->imm = 1;
	}
	if (op->dst.kind == INSN_OPERAND_NONE || (op->kind != INSN_OP_SET && op->src.kind == INSN_OPERAND_NONE))
		op->kind = INSN_OP_OTHER;
}

/* Without Capstone's detail, assume that the instruction reads and writes every register. */
static void assume_the_worst(struct insn_op *op)
{
	op->reads = op->data = op->writes = ALL_GPRS;
	op->sets_flags = true;
	if (op->insn.flags & INSN_BRANCH)
		op->kind = INSN_OP_STOP;
}

unsigned insn_op_decode(struct insn_decoder *dec, const uint8_t *code, size_t len, uint64_t addr, struct insn_op *out)
{
	struct insn insn;
	unsigned n = insn_decode(dec, code, len, addr, &insn);
	const cs_x86 *x;

	*out = (struct insn_op){.insn = insn};
	if (!n)
		return 0;
	if (!dec->detailed) {
		assume_the_worst(out);
		return n;
	}
	x = &dec->ci->detail->x86;
	out->kind = kind_of[dec->ci->id];
	if (out->kind == INSN_OP_LEA)
		lea_operands(out, x);
	else if (out->kind == INSN_OP_PUSH)
		out->src = operand(out, &x->operands[0]);
	else if (out->kind == INSN_OP_POP)
		out->dst = operand(out, &x->operands[0]);
	else if (out->kind >= INSN_OP_JUMP && out->kind <= INSN_OP_RET)
		branch_target(out, x);
	else if (out->kind >= INSN_OP_MOV && out->kind <= INSN_OP_SET)
		data_operands(out, dec->ci->id, x);
	find_registers(out, dec->ci->detail);
	return n;
}

enum insn_commuting insn_op_commutes(const struct insn_op *op)
{
	if (!(op->insn.flags & INSN_LOCKED) || op->dst.kind != INSN_OPERAND_MEM)
		return INSN_COMMUTES_NOT;
	switch (op->kind) {
	case INSN_OP_ADD:
	case INSN_OP_SUB:
		return INSN_COMMUTES_ADD;
	case INSN_OP_OR:
		return INSN_COMMUTES_OR;
	case INSN_OP_AND:
		return INSN_COMMUTES_AND;
	case INSN_OP_XOR:
		return INSN_COMMUTES_XOR;
	default:
		return INSN_COMMUTES_NOT;
	}
}
