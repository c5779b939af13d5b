/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Emulates an instruction with one operand in memory (emulate_access.h): decodes it into a struct form, and carries it out. */
#include "hv/target/emulate_access.h"

#include <string.h>

/* The first eight operations have the numbers that instructions encode (SDM vol. 2, table A-6, group 1). */
enum operation { ADD, OR, ADC, SBB, AND, SUB, XOR, CMP, TEST, INC, DEC, MOVE };

#define ARITHMETIC (X86_RFLAGS_CF | X86_RFLAGS_PF | X86_RFLAGS_AF | X86_RFLAGS_ZF | X86_RFLAGS_SF | X86_RFLAGS_OF)

/* What an instruction does. Sizes are in bytes. */
struct form {
	enum operation operation;
	/* Size of the operand in memory, and size of the destination. The sizes differ for movzx, movsx and movsxd. */
	uint8_t size, to_size;
	/* The operand in memory is sign-extended to the destination's size. */
	bool sign;
	/* The destination is the register, not the memory. */
	bool load;
	/* The other operand: an immediate of immediate_size bytes, or the register `reg` if immediate_size is 0. */
	uint8_t reg, immediate_size;
	/* The instruction has a REX, so that the byte registers 4 to 7 are SPL to DIL, not AH to BH. */
	bool rex;
};

/* The opcode and its prefixes. */
struct opcode {
	const uint8_t *at; /* the opcode byte: the second one if the first one is 0x0f */
	bool two_bytes, rex, rex_w, rex_r, word;
};

/*
 * Find the opcode and its prefixes. Returns false if the instruction has a prefix other than those of operand size, segment
 * (GS, DS) and REX, or if its ModRM has no operand in memory.
 */
static bool find_opcode(const struct insn *insn, struct opcode *out)
{
	const uint8_t *b = insn->bytes, *end = b + insn->len;
	uint8_t rex = 0;

	*out = (struct opcode){0};
	for (; b < end && (*b == 0x66 || *b == 0x65 || *b == 0x3e); b++)
		out->word |= *b == 0x66;
	if (b < end && (*b & 0xf0) == 0x40)
		rex = *b++;
	out->two_bytes = b < end && *b == 0x0f;
	out->at = b + out->two_bytes;
	out->rex = rex;
	out->rex_w = rex & 8;
	out->rex_r = rex & 4;
	return out->at + 2 <= end && out->at[1] < 0xc0;
}

/* Returns the operand size in bytes. `byte`: the opcode is for byte operands. */
static uint8_t operand_size(const struct opcode *o, bool byte)
{
	return byte ? 1 : o->rex_w ? 8 : o->word ? 2 : 4;
}

/*
 * Fill in the form of an instruction without a register operand: one with an immediate, or inc or dec. Returns false if the
 * instruction cannot be emulated.
 */
static bool group_form(const struct opcode *o, struct form *f)
{
	uint8_t op = *o->at, field = o->at[1] >> 3 & 7;
	uint8_t immediate = f->size == 8 ? 4 : f->size;

	switch (op) {
	case 0x80:
	case 0x81:
	case 0x83:
		f->operation = (enum operation)field;
		f->immediate_size = op == 0x83 ? 1 : immediate;
		return true;
	case 0xc6:
	case 0xc7:
		f->operation = MOVE;
		f->immediate_size = immediate;
		return field == 0;
	case 0xf6:
	case 0xf7:
		f->operation = TEST;
		f->immediate_size = immediate;
		return field == 0;
	case 0xfe:
	case 0xff:
		f->operation = field ? DEC : INC;
		return field <= 1;
	default:
		return false;
	}
}

static bool extending_form(const struct opcode *o, struct form *f)
{
	uint8_t op = *o->at;

	f->operation = MOVE;
	f->load = true;
	f->to_size = operand_size(o, false);
	if (!o->two_bytes) { /* movsxd */
		f->sign = true;
		f->size = 4;
		return op == 0x63 && o->rex_w;
	}
	f->sign = op & 8;
	f->size = op & 1 ? 2 : 1;
	return op == 0xb6 || op == 0xb7 || op == 0xbe || op == 0xbf;
}

/* Fill in the form of an instruction. Returns false if the instruction cannot be emulated. */
static bool form_of(const struct insn *insn, struct form *f)
{
	struct opcode o;
	uint8_t op;

	*f = (struct form){0};
	if (insn->nmem != 1 || !find_opcode(insn, &o))
		return false;
	op = *o.at;
	f->rex = o.rex;
	f->reg = (uint8_t)((o.at[1] >> 3 & 7) | o.rex_r << 3);
	if (o.two_bytes || op == 0x63)
		return extending_form(&o, f);
	f->size = f->to_size = operand_size(&o, !(op & 1));
	if (op < 0x40 && (op & 7) < 4) {
		f->operation = (enum operation)(op >> 3);
		f->load = op & 2;
		return true;
	}
	if (op == 0x84 || op == 0x85) {
		f->operation = TEST;
		return true;
	}
	if (op >= 0x88 && op <= 0x8b) {
		f->operation = MOVE;
		f->load = op & 2;
		return true;
	}
	return group_form(&o, f);
}

static uint64_t mask(uint8_t size)
{
	return size == 8 ? ~0ull : (1ull << 8 * size) - 1;
}

static uint64_t extend(uint64_t value, uint8_t size)
{
	unsigned shift = 64 - 8u * size;

	return (uint64_t)((int64_t)(value << shift) >> shift);
}

static bool is_high_byte(const struct form *f, uint8_t size)
{
	return size == 1 && !f->rex && f->reg >= 4;
}

static uint64_t register_operand(const struct form *f, const struct x86_regs *regs)
{
	if (is_high_byte(f, f->to_size))
		return regs->gpr[f->reg - 4] >> 8 & 0xff;
	return regs->gpr[f->reg] & mask(f->to_size);
}

/* Write a register. A 32-bit write clears the upper half of the register; a smaller write leaves the other bits unchanged. */
static void set_register(const struct form *f, struct x86_regs *regs, uint64_t value)
{
	uint64_t *gpr = &regs->gpr[is_high_byte(f, f->to_size) ? f->reg - 4 : f->reg];

	if (is_high_byte(f, f->to_size))
		*gpr = (*gpr & ~0xff00ull) | (value & 0xff) << 8;
	else if (f->to_size >= 4)
		*gpr = value & mask(f->to_size);
	else
		*gpr = (*gpr & ~mask(f->to_size)) | (value & mask(f->to_size));
}

/* Returns the sign-extended immediate at the end of the instruction. */
static uint64_t immediate_operand(const struct insn *insn, const struct form *f)
{
	uint64_t value = 0;

	memcpy(&value, insn->bytes + insn->len - f->immediate_size, f->immediate_size);
	return extend(value, f->immediate_size) & mask(f->size);
}

static uint64_t flag(bool set, uint64_t bit)
{
	return set ? bit : 0;
}

/* Returns the flags that depend on the result alone (SDM vol. 1, 3.4.3.1). */
static uint64_t result_flags(uint64_t result, uint8_t size)
{
	return flag(!result, X86_RFLAGS_ZF) | flag(result >> (8 * size - 1) & 1, X86_RFLAGS_SF) |
	       flag(!__builtin_parity((unsigned)result & 0xff), X86_RFLAGS_PF);
}

static uint64_t add(uint64_t a, uint64_t b, bool carry, uint8_t size, uint64_t *flags)
{
	uint64_t result = (a + b + carry) & mask(size), top = 8u * size - 1;

	*flags = result_flags(result, size) | flag(result < a || (carry && result == a), X86_RFLAGS_CF) |
		 flag((a ^ b ^ result) >> 4 & 1, X86_RFLAGS_AF) | flag(((a ^ result) & (b ^ result)) >> top & 1, X86_RFLAGS_OF);
	return result;
}

static uint64_t subtract(uint64_t a, uint64_t b, bool borrow, uint8_t size, uint64_t *flags)
{
	uint64_t result = (a - b - borrow) & mask(size), top = 8u * size - 1;

	*flags = result_flags(result, size) | flag(a < b || (borrow && a == b), X86_RFLAGS_CF) |
		 flag((a ^ b ^ result) >> 4 & 1, X86_RFLAGS_AF) | flag(((a ^ b) & (a ^ result)) >> top & 1, X86_RFLAGS_OF);
	return result;
}

/*
 * Returns the result of the operation on the destination `a` and the source `b`. Updates *rflags. AF becomes 0 if the SDM
 * leaves it undefined, as in CPUs.
 */
static uint64_t calculate(enum operation operation, uint64_t a, uint64_t b, uint8_t size, uint64_t *rflags)
{
	bool carry = *rflags & X86_RFLAGS_CF;
	uint64_t result = b, changed = ARITHMETIC, flags = 0;

	switch (operation) {
	case MOVE:
		return b;
	case ADD:
	case ADC:
		result = add(a, b, operation == ADC && carry, size, &flags);
		break;
	case SUB:
	case SBB:
	case CMP:
		result = subtract(a, b, operation == SBB && carry, size, &flags);
		break;
	case INC:
	case DEC:
		result = operation == INC ? add(a, 1, false, size, &flags) : subtract(a, 1, false, size, &flags);
		changed &= ~X86_RFLAGS_CF;
		break;
	case OR:
		result = a | b;
		flags = result_flags(result, size);
		break;
	case XOR:
		result = a ^ b;
		flags = result_flags(result, size);
		break;
	case AND:
	case TEST:
		result = a & b;
		flags = result_flags(result, size);
		break;
	}
	*rflags = (*rflags & ~changed) | (flags & changed);
	return result;
}

/* Find the operand in guest-physical memory. Returns 0 with *gpa set, or -1 if the CPU must make the access itself. */
static int locate(struct target *t, const struct insn *insn, const struct form *f, const struct x86_regs *regs, bool write,
		  uint64_t *gpa)
{
	struct mem_access access[INSN_MAX_MEM];

	if (insn_accesses(insn, regs, access) != 1 || access->size != f->size || !x86_kernel_address(access->gva) ||
	    access->gva % X86_PAGE_SIZE + f->size > X86_PAGE_SIZE)
		return -1;
	return target_translate_quietly(t, regs, access->gva, write, gpa);
}

int target_emulate_access(struct target *t, const struct insn *insn, struct x86_regs *regs)
{
	uint64_t gpa, memory = 0, other, result, rflags = regs->rflags;
	bool reads, writes;
	struct form f;

	if (regs->rflags & X86_RFLAGS_TF || !form_of(insn, &f))
		return -1;
	reads = f.load || f.operation != MOVE;
	writes = !f.load && f.operation != CMP && f.operation != TEST;
	if (locate(t, insn, &f, regs, writes, &gpa) || (reads && target_read_phys(t, gpa, &memory, f.size)))
		return -1;
	if (f.load && f.sign)
		memory = extend(memory, f.size) & mask(f.to_size);
	other = f.immediate_size ? immediate_operand(insn, &f) : register_operand(&f, regs);
	result = f.load ? calculate(f.operation, other, memory, f.to_size, &rflags)
			: calculate(f.operation, memory, other, f.size, &rflags);
	if (writes && t->ops->write_phys(t, gpa, &result, f.size))
		return -1;
	if (f.load && f.operation != CMP)
		set_register(&f, regs, result);
	regs->rflags = rflags;
	regs->rip = insn->addr + insn->len;
	return 0;
}
