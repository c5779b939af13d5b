// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out whether code decides by what it reads (decision.h), by following the value through the registers. */
#include "hv/detect/locks/decision.h"

#include "hv/detect/locks/decision_registers.h"
#include "symbols/insn/op.h"

/* What depends on the value that the first instruction read: general registers, and the flags. */
struct following {
	uint16_t registers; /* one bit for each enum x86_gpr */
	bool flags;
};

static bool compares(const struct insn_op *op)
{
	return op->kind == INSN_OP_CMP || op->kind == INSN_OP_TEST || op->kind == INSN_OP_BT;
}

static bool decides(const struct following *f, const struct insn_op *op)
{
	return f->flags && op->reads_flags && (op->kind == INSN_OP_JCC || op->kind == INSN_OP_CMOV || op->kind == INSN_OP_SET);
}

/* Begin at the instruction that reads the memory: the registers and flags that it writes depend on the value. */
static struct following begin(const struct insn_op *op)
{
	return (struct following){.registers = op->writes, .flags = op->sets_flags};
}

static void step(struct following *f, const struct insn_op *op)
{
	uint16_t used = op->kind == INSN_OP_LEA ? op->reads : op->data;
	bool depends = used & f->registers;

	if (op->kind == INSN_OP_CALL) {
		f->registers &= DECISION_KEPT;
		f->flags = false;
		return;
	}
	/* `data` leaves out registers that only form an address, because a value loaded from that address is another value. */
	if (depends)
		f->registers |= op->writes;
	else
		f->registers &= (uint16_t)~op->writes;
	if (op->sets_flags)
		f->flags = depends;
}

/* Decode the instruction at GVA `at`. Returns its length, or 0 if the code ends before. */
static unsigned decode(struct insn_decoder *decoder, const struct decision_code *code, uint64_t at, struct insn_op *op)
{
	size_t from = at - code->addr;

	return from < code->len ? insn_op_decode(decoder, code->bytes + from, code->len - from, at, op) : 0;
}

/* Follow the value from the instruction at GVA `at` on. */
static bool follow(struct insn_decoder *decoder, const struct decision_code *code, uint64_t at, struct following f)
{
	struct insn_op op;
	unsigned n;

	for (unsigned followed = 0; followed < DECISION_CODE_MAX; followed += n) {
		n = decode(decoder, code, at, &op);
		at += n;
		if (!n || (!f.registers && !f.flags))
			return false;
		if (decides(&f, &op))
			return true;
		if (op.kind == INSN_OP_RET || op.kind == INSN_OP_STOP || (op.kind == INSN_OP_JUMP && !op.target))
			return false;
		if (op.kind == INSN_OP_JUMP)
			at = op.target;
		else
			step(&f, &op);
	}
	return false;
}

bool decision_by(struct insn_decoder *decoder, const struct decision_code *code, uint64_t addr)
{
	struct following f;
	struct insn_op op;
	unsigned n = decode(decoder, code, addr, &op);

	if (!n)
		return false;
	/*
	 * Follow the flags only if the instruction compares or tests, or writes a register. An update of memory in place, such
	 * as INC of a counter, does neither, so a branch on its flags is no decision.
	 */
	f = begin(&op);
	f.flags &= compares(&op) || op.writes;
	return follow(decoder, code, addr + n, f);
}

bool decision_by_result(struct insn_decoder *decoder, const uint8_t *code, size_t len, uint64_t addr)
{
	const struct decision_code rest = {code, len, addr};

	return follow(decoder, &rest, addr, (struct following){.registers = 1u << X86_RAX});
}

/* Whether the instruction accesses the same operand, as long as no register of the address changes. */
static bool same_operand(const struct insn_mem *a, const struct insn_mem *b)
{
	return a->base == b->base && a->index == b->index && a->scale == b->scale && a->disp == b->disp && a->seg == b->seg &&
	       a->size == b->size;
}

/* Whether the instruction may be an inlined spin_unlock(): it stores a byte 0. */
static bool is_unlock(const struct insn_op *op)
{
	return op->kind == INSN_OP_MOV && op->dst.kind == INSN_OPERAND_MEM && op->dst.size == 1 &&
	       op->src.kind == INSN_OPERAND_IMM && !op->imm;
}

static uint16_t address_registers(const struct insn_mem *mem)
{
	return (uint16_t)((mem->base >= 0 ? 1u << mem->base : 0) | (mem->index >= 0 ? 1u << mem->index : 0));
}

bool decision_stores_back(struct insn_decoder *decoder, const struct decision_code *code, uint64_t addr)
{
	struct insn_op op;
	struct insn_mem read;
	unsigned n = decode(decoder, code, addr, &op);
	uint64_t at = addr + n;

	/* The displacement of an operand relative to RIP is another one at each instruction. */
	if (!n || op.kind == INSN_OP_CALL || op.kind == INSN_OP_JUMP || op.insn.nmem != 1 ||
	    op.insn.mem[0].base == INSN_REG_RIP || op.writes & address_registers(&op.insn.mem[0]))
		return false;
	read = op.insn.mem[0];
	for (unsigned followed = 0; followed < DECISION_CODE_MAX; followed += n) {
		n = decode(decoder, code, at, &op);
		if (!n || op.kind == INSN_OP_CALL || op.kind == INSN_OP_RET || op.kind == INSN_OP_STOP ||
		    (op.kind == INSN_OP_JUMP && !op.target) || is_unlock(&op))
			return false;
		if (op.insn.nmem == 1 && op.insn.mem[0].rw & INSN_WRITE && same_operand(&op.insn.mem[0], &read))
			return true;
		if (op.writes & address_registers(&read))
			return false;
		at = op.kind == INSN_OP_JUMP ? op.target : at + n;
	}
	return false;
}

/* Whether the instruction loads 8 bytes from the address in one register. If so, set *step. */
static bool loads_next(const struct insn_op *op, struct decision_step *step)
{
	if (op->kind != INSN_OP_MOV || op->src.kind != INSN_OPERAND_MEM || op->dst.kind != INSN_OPERAND_REG ||
	    op->dst.size != sizeof(uint64_t) || op->insn.nmem != 1 || op->insn.mem[0].index >= 0 || op->insn.mem[0].base < 0)
		return false;
	*step = (struct decision_step){(uint16_t)(1u << op->insn.mem[0].base), (uint16_t)(1u << op->dst.reg), false};
	step->linked = step->base == step->loaded;
	return true;
}

/*
 * If the instruction sets a register to a value that comes from one register (a copy, the pointer that the register leads to,
 * or the sum with a constant), returns the bit of that register. Otherwise returns 0.
 */
static uint16_t comes_from(const struct insn_op *op)
{
	const struct insn_mem *mem = op->insn.nmem ? &op->insn.mem[0] : NULL;

	if (op->dst.kind != INSN_OPERAND_REG || op->dst.size != sizeof(uint64_t))
		return 0;
	if (op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_MEM && mem && mem->base >= 0 && mem->index < 0)
		return (uint16_t)(1u << mem->base);
	if ((op->kind == INSN_OP_MOV || op->kind == INSN_OP_LEA) && op->src.kind == INSN_OPERAND_REG)
		return (uint16_t)(1u << op->src.reg);
	if ((op->kind == INSN_OP_ADD || op->kind == INSN_OP_SUB) && op->src.kind == INSN_OPERAND_IMM)
		return (uint16_t)(1u << op->dst.reg);
	return 0;
}

/* Follow the two registers over an instruction. Returns false if neither has a value any more that comes from the load. */
static bool follow_step(const struct insn_op *op, struct decision_step *step)
{
	uint16_t writes = op->kind == INSN_OP_CALL ? (uint16_t)~DECISION_KEPT : op->writes;
	bool kept = comes_from(op) & (step->loaded | (step->linked ? step->base : 0u));

	if (writes & step->base)
		step->linked = kept;
	if (writes & step->loaded && !kept)
		step->loaded = 0;
	return step->linked || step->loaded;
}

/* Whether the code after this instruction is reached by a branch only. */
static bool ends(const struct insn_op *op)
{
	return op->kind == INSN_OP_JUMP || op->kind == INSN_OP_RET || op->kind == INSN_OP_STOP;
}

uint64_t decision_loop(struct insn_decoder *decoder, const uint8_t *code, size_t len, uint64_t addr, struct decision_step *step)
{
	struct insn_op op;
	size_t at;

	if (!insn_op_decode(decoder, code, len, addr, &op) || !loads_next(&op, step))
		return 0;
	for (at = op.insn.len; at < len && insn_op_decode(decoder, code + at, len - at, addr + at, &op); at += op.insn.len) {
		if ((op.kind == INSN_OP_JCC || op.kind == INSN_OP_JUMP) && op.target && op.target <= addr)
			return addr - op.target <= DECISION_LOOP_MAX ? op.target : 0;
		if (ends(&op) || !follow_step(&op, step))
			return 0;
	}
	return 0;
}

bool decision_links(struct insn_decoder *decoder, const uint8_t *code, size_t len, uint64_t addr, struct decision_step *step)
{
	struct insn_op op;
	size_t at;

	for (at = 0; at < len && insn_op_decode(decoder, code + at, len - at, addr + at, &op); at += op.insn.len) {
		if (op.kind == INSN_OP_STOP || !follow_step(&op, step))
			return false;
	}
	return at == len && step->linked;
}

/* Whether the instruction is je with a displacement of 8 or 32 bits. */
static bool is_je(const struct insn_op *op)
{
	const uint8_t *b = op->insn.bytes;

	return op->kind == INSN_OP_JCC && op->target && (b[0] == 0x74 || (b[0] == 0x0f && b[1] == 0x84));
}

void decision_check(struct insn_decoder *decoder, const uint8_t *code, size_t len, uint64_t addr, struct lock_check *out)
{
	/* After the je, another branch by the same flags, or by the loaded register, would look for another value. */
	struct following again = {.flags = true};
	const struct decision_code rest = {code, len, addr};
	struct insn_op op;
	size_t at = insn_op_decode(decoder, code, len, addr, &op);

	*out = (struct lock_check){0};
	if (at && op.kind == INSN_OP_MOV && op.src.kind == INSN_OPERAND_MEM && op.dst.kind == INSN_OPERAND_REG) {
		const struct insn_operand loaded = op.dst;

		if (at >= len)
			return;
		at += insn_op_decode(decoder, code + at, len - at, addr + at, &op);
		if (op.dst.kind != INSN_OPERAND_REG || op.dst.reg != loaded.reg || op.dst.high != loaded.high ||
		    op.dst.size != loaded.size)
			return;
		again.registers = (uint16_t)(1u << loaded.reg);
	} else if (!at || op.dst.kind != INSN_OPERAND_MEM) {
		return;
	}
	if (op.kind != INSN_OP_CMP || op.src.kind != INSN_OPERAND_IMM || !op.dst.size || op.dst.size > sizeof(op.imm))
		return;
	out->known = true;
	out->value = op.imm & UINT64_MAX >> (64 - 8 * op.dst.size);
	if (at < len && insn_op_decode(decoder, code + at, len - at, addr + at, &op) && is_je(&op) && op.target > addr + at &&
	    !follow(decoder, &rest, addr + at + op.insn.len, again))
		out->until = op.target;
}
