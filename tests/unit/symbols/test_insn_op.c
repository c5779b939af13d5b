// SPDX-License-Identifier: GPL-2.0-or-later
/* What instructions do to values: kinds, operands, constants, targets and registers of the instructions that compilers use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/insn/op.h"

#define CODE_ADDR 0xffffffff81000000ull
#define BIT(gpr) (1u << (gpr))
#define REG(r, bytes)                                                 \
	{                                                             \
		.kind = INSN_OPERAND_REG, .reg = (r), .size = (bytes) \
	}
#define IMM                               \
	{                                 \
		.kind = INSN_OPERAND_IMM, \
	}
#define MEM(bytes)                                         \
	{                                                  \
		.kind = INSN_OPERAND_MEM, .size = (bytes), \
	}
#define C(bytes) .code = (bytes), .len = sizeof(bytes) - 1

struct op_case {
	const char *text, *code;
	size_t len;
	uint8_t kind;
	struct insn_operand dst, src;
	uint64_t imm, target;
	uint16_t reads, writes;
	bool reads_flags;
};

static const struct op_case cases[] = {
	{"mov (%rdi),%eax", C("\x8b\x07"), INSN_OP_MOV, REG(X86_RAX, 4), MEM(4), .reads = BIT(X86_RDI), .writes = BIT(X86_RAX)},
	{"movzbl (%rdi),%eax", C("\x0f\xb6\x07"), INSN_OP_MOV, REG(X86_RAX, 4), MEM(1), .reads = BIT(X86_RDI),
	 .writes = BIT(X86_RAX)},
	{"movzbl %dl,%eax", C("\x0f\xb6\xc2"), INSN_OP_MOV, REG(X86_RAX, 4), REG(X86_RDX, 1), .reads = BIT(X86_RDX),
	 .writes = BIT(X86_RAX)},
	{"mov %dil,(%rsi)", C("\x40\x88\x3e"), INSN_OP_MOV, MEM(1), REG(X86_RDI, 1), .reads = BIT(X86_RDI) | BIT(X86_RSI)},
	{"mov %bl,%al keeps the rest", C("\x88\xd8"), INSN_OP_MOV, REG(X86_RAX, 1), REG(X86_RBX, 1),
	 .reads = BIT(X86_RAX) | BIT(X86_RBX), .writes = BIT(X86_RAX)},
	{"and $~2,%eax", C("\x83\xe0\xfd"), INSN_OP_AND, REG(X86_RAX, 4), IMM, .imm = ~2ull, .reads = BIT(X86_RAX),
	 .writes = BIT(X86_RAX)},
	{"orl $2,(%rdi)", C("\x83\x0f\x02"), INSN_OP_OR, MEM(4), IMM, .imm = 2, .reads = BIT(X86_RDI)},
	{"lock incl (%rdi)", C("\xf0\xff\x07"), INSN_OP_ADD, MEM(4), IMM, .imm = 1, .reads = BIT(X86_RDI)},
	{"decq (%rdi)", C("\x48\xff\x0f"), INSN_OP_SUB, MEM(8), IMM, .imm = 1, .reads = BIT(X86_RDI)},
	{"shr $3,%ecx", C("\xc1\xe9\x03"), INSN_OP_SHR, REG(X86_RCX, 4), IMM, .imm = 3, .reads = BIT(X86_RCX),
	 .writes = BIT(X86_RCX)},
	{"testb $1,(%rdi)", C("\xf6\x07\x01"), INSN_OP_TEST, MEM(1), IMM, .imm = 1, .reads = BIT(X86_RDI)},
	{"cmpb $0,(%rdi)", C("\x80\x3f\x00"), INSN_OP_CMP, MEM(1), IMM, .reads = BIT(X86_RDI)},
	{"bt $5,%rax", C("\x48\x0f\xba\xe0\x05"), INSN_OP_BT, REG(X86_RAX, 8), IMM, .imm = 5, .reads = BIT(X86_RAX)},
	{"cmovne %edx,%eax", C("\x0f\x45\xc2"), INSN_OP_CMOV, REG(X86_RAX, 4), REG(X86_RDX, 4),
	 .reads = BIT(X86_RAX) | BIT(X86_RDX), .writes = BIT(X86_RAX), .reads_flags = true},
	{"setne %al", C("\x0f\x95\xc0"), INSN_OP_SET, REG(X86_RAX, 1), .reads = BIT(X86_RAX), .writes = BIT(X86_RAX),
	 .reads_flags = true},
	{"lea 1(%rax),%edx", C("\x8d\x50\x01"), INSN_OP_LEA, REG(X86_RDX, 4), REG(X86_RAX, 8), .imm = 1, .reads = BIT(X86_RAX),
	 .writes = BIT(X86_RDX)},
	{"lea (%rax,%rbx),%rdx", C("\x48\x8d\x14\x18"), INSN_OP_LEA, REG(X86_RDX, 8), .reads = BIT(X86_RAX) | BIT(X86_RBX),
	 .writes = BIT(X86_RDX)},
	{"lea 0x1234(,%rax,8),%rdx", C("\x48\x8d\x14\xc5\x34\x12\x00\x00"), INSN_OP_LEA, REG(X86_RDX, 8), .imm = 0x1234,
	 .reads = BIT(X86_RAX), .writes = BIT(X86_RDX)},
	{"lea -8(%rax,%rbx),%rdx", C("\x48\x8d\x54\x18\xf8"), INSN_OP_LEA, REG(X86_RDX, 8), .imm = -8ull,
	 .reads = BIT(X86_RAX) | BIT(X86_RBX), .writes = BIT(X86_RDX)},
	{"jrcxz +2", C("\xe3\x02"), INSN_OP_JCC, .target = CODE_ADDR + 4, .reads = BIT(X86_RCX)},
	{"loop -2", C("\xe2\xfe"), INSN_OP_JCC, .target = CODE_ADDR, .reads = BIT(X86_RCX), .writes = BIT(X86_RCX)},
	{"loope -2", C("\xe1\xfe"), INSN_OP_JCC, .target = CODE_ADDR, .reads = BIT(X86_RCX), .writes = BIT(X86_RCX),
	 .reads_flags = true},
	{"je +2", C("\x74\x02"), INSN_OP_JCC, .target = CODE_ADDR + 4, .reads_flags = true},
	{"jmp +0x10", C("\xe9\x10\0\0\0"), INSN_OP_JUMP, .target = CODE_ADDR + 0x15},
	{"call -5", C("\xe8\xf6\xff\xff\xff"), INSN_OP_CALL, .target = CODE_ADDR - 5},
	{"call *%rax", C("\xff\xd0"), INSN_OP_CALL, .reads = BIT(X86_RAX)},
	{"ret", C("\xc3"), INSN_OP_RET},
	{"pause", C("\xf3\x90"), INSN_OP_NOP},
	{"ud2 of a WARN_ON()", C("\x0f\x0b"), INSN_OP_NOP},
	{"int3", C("\xcc"), INSN_OP_STOP, .reads = 0xffff, .writes = 0xffff},
	{"mov %gs is not understood", C("\x8c\xe8"), INSN_OP_OTHER, .reads = BIT(X86_RAX), .writes = BIT(X86_RAX)},
	{"imul %rbx,%rax", C("\x48\x0f\xaf\xc3"), INSN_OP_OTHER, .reads = BIT(X86_RAX) | BIT(X86_RBX), .writes = BIT(X86_RAX)},
	{"rep movsb", C("\xf3\xa4"), INSN_OP_OTHER, .reads = BIT(X86_RSI) | BIT(X86_RDI) | BIT(X86_RCX) | BIT(X86_RAX),
	 .writes = BIT(X86_RSI) | BIT(X86_RDI) | BIT(X86_RCX), .reads_flags = true},
};

static bool same_operand(const struct insn_operand *got, const struct insn_operand *wanted)
{
	if (got->kind != wanted->kind)
		return false;
	if (got->kind == INSN_OPERAND_REG && (got->reg != wanted->reg || got->high != wanted->high))
		return false;
	return got->kind == INSN_OPERAND_NONE || got->kind == INSN_OPERAND_IMM || got->size == wanted->size;
}

static void check(struct insn_decoder *dec, const struct op_case *c)
{
	const uint16_t stack = BIT(X86_RSP);
	struct insn_op op;

	if (insn_op_decode(dec, (const uint8_t *)c->code, c->len, CODE_ADDR, &op) != c->len)
		fail_msg("%s: wrong length", c->text);
	if (op.kind != c->kind)
		fail_msg("%s: kind %d, not %d", c->text, op.kind, c->kind);
	if (op.kind != INSN_OP_OTHER && (!same_operand(&op.dst, &c->dst) || !same_operand(&op.src, &c->src)))
		fail_msg("%s: wrong operands", c->text);
	if (op.imm != c->imm || op.target != c->target)
		fail_msg("%s: number %#jx, target %#jx", c->text, (uintmax_t)op.imm, (uintmax_t)op.target);
	if ((op.reads & ~stack) != (c->reads & ~stack) || (op.writes & ~stack) != (c->writes & ~stack))
		fail_msg("%s: reads %#x, writes %#x", c->text, op.reads, op.writes);
	if (op.reads_flags != c->reads_flags)
		fail_msg("%s: flags", c->text);
}

static void test_cases(void **state)
{
	struct insn_decoder *dec = insn_decoder_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check(dec, &cases[i]);
	insn_decoder_free(dec);
}

static void test_flags_and_data(void **state)
{
	static const struct {
		const char *text, *code;
		size_t len;
		bool sets_flags;
		uint16_t data;
	} table[] = {
		{"mov %eax,8(%rdi)", C("\x89\x47\x08"), false, BIT(X86_RAX)},
		{"mov (%rdi),%eax", C("\x8b\x07"), false, 0},
		{"add %eax,(%rax)", C("\x01\x00"), true, BIT(X86_RAX)},
		{"cmp (%rdi),%eax", C("\x3b\x07"), true, BIT(X86_RAX)},
		{"movslq (%rdi),%rax", C("\x48\x63\x07"), false, BIT(X86_RAX)},
		{"lock xadd %eax,(%rdi)", C("\xf0\x0f\xc1\x07"), true, BIT(X86_RAX)},
		{"lock cmpxchg %edx,(%rdi)", C("\xf0\x0f\xb1\x17"), true, BIT(X86_RAX) | BIT(X86_RDX)},
		{"neg %eax", C("\xf7\xd8"), true, BIT(X86_RAX)},
		{"lea (%rax,%rbx),%rdx", C("\x48\x8d\x14\x18"), false, 0},
		{"call *%rax", C("\xff\xd0"), false, BIT(X86_RAX)},
		{"call *8(%rax)", C("\xff\x50\x08"), false, 0},
		{"cmove %edx,%eax", C("\x0f\x44\xc2"), false, BIT(X86_RAX) | BIT(X86_RDX)},
	};
	struct insn_decoder *dec = insn_decoder_new();

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct insn_op op;

		assert_int_equal(insn_op_decode(dec, (const uint8_t *)table[i].code, table[i].len, CODE_ADDR, &op),
				 table[i].len);
		if (op.sets_flags != table[i].sets_flags || (op.data & ~BIT(X86_RSP)) != table[i].data)
			fail_msg("%s: sets flags %d, data %#x", table[i].text, op.sets_flags, op.data);
	}
	insn_decoder_free(dec);
}

static void test_high_bytes(void **state)
{
	struct insn_decoder *dec = insn_decoder_new();
	struct insn_op op;

	(void)state;
	assert_int_equal(insn_op_decode(dec, (const uint8_t *)"\x80\xcf\x01", 3, CODE_ADDR, &op), 3); /* or $1,%bh */
	assert_int_equal(op.dst.reg, X86_RBX);
	assert_true(op.dst.high);
	insn_decoder_free(dec);
}

static void test_no_instruction(void **state)
{
	struct insn_decoder *dec = insn_decoder_new();
	struct insn_op op;

	(void)state;
	assert_int_equal(insn_op_decode(dec, (const uint8_t *)"\x06", 1, CODE_ADDR, &op), 0);
	assert_int_equal(insn_op_decode(dec, (const uint8_t *)"\x0f", 1, CODE_ADDR, &op), 0);
	insn_decoder_free(dec);
}

static void test_commuting(void **state)
{
	static const struct {
		const char *text, *code;
		size_t len;
		enum insn_commuting kind;
	} table[] = {
		{"lock incl (%rdi)", C("\xf0\xff\x07"), INSN_COMMUTES_ADD},
		{"lock decq (%rdi)", C("\xf0\x48\xff\x0f"), INSN_COMMUTES_ADD},
		{"lock addq $8,%gs:0x10(%rax)", C("\x65\xf0\x48\x83\x40\x10\x08"), INSN_COMMUTES_ADD},
		{"lock sub %eax,(%rdi)", C("\xf0\x29\x07"), INSN_COMMUTES_ADD},
		{"lock orb $1,(%rdi)", C("\xf0\x80\x0f\x01"), INSN_COMMUTES_OR},
		{"lock andb $0xfd,(%rdi)", C("\xf0\x80\x27\xfd"), INSN_COMMUTES_AND},
		{"lock and %al,(%rdi)", C("\xf0\x20\x07"), INSN_COMMUTES_AND},
		{"lock xor %rax,(%rdi)", C("\xf0\x48\x31\x07"), INSN_COMMUTES_XOR},
		{"lock adc %eax,(%rdi)", C("\xf0\x11\x07"), INSN_COMMUTES_NOT},
		{"lock notl (%rdi)", C("\xf0\xf7\x17"), INSN_COMMUTES_NOT},
		{"incl (%rdi)", C("\xff\x07"), INSN_COMMUTES_NOT},
		{"lock xadd %eax,(%rdi)", C("\xf0\x0f\xc1\x07"), INSN_COMMUTES_NOT},
		{"lock cmpxchg %edx,(%rdi)", C("\xf0\x0f\xb1\x17"), INSN_COMMUTES_NOT},
		{"lock btsq $3,(%rdi)", C("\xf0\x48\x0f\xba\x2f\x03"), INSN_COMMUTES_NOT},
		{"xchg %rax,(%rdi)", C("\x48\x87\x07"), INSN_COMMUTES_NOT},
	};

	struct insn_decoder *dec = insn_decoder_new();

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct insn_op op;

		assert_int_equal(insn_op_decode(dec, (const uint8_t *)table[i].code, table[i].len, CODE_ADDR, &op),
				 table[i].len);
		if (insn_op_commutes(&op) != table[i].kind)
			fail_msg("%s", table[i].text);
	}
	insn_decoder_free(dec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),	   cmocka_unit_test(test_flags_and_data), cmocka_unit_test(test_commuting),
		cmocka_unit_test(test_high_bytes), cmocka_unit_test(test_no_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
