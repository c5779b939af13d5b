// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An emulated instruction has the same result as on a CPU: the CPU that runs this test executes the same bytes.
 * Instructions that use the guest's stack are tested in tests/unit/detect/test_point.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <sys/mman.h>

#include "hv/target/emulate.h"

#define ADDR 0xffffffff81000000ull
/* AF is undefined after a logical instruction. */
#define FLAGS (X86_RFLAGS_CF | X86_RFLAGS_PF | X86_RFLAGS_ZF | X86_RFLAGS_SF | X86_RFLAGS_OF)

/* The registers that a function may change, and the flags. */
struct result {
	uint64_t rdi, rsi, rcx, flags;
};

typedef void (*run_fn)(uint64_t rdi, uint64_t rsi, struct result *out, uint64_t rcx);

static const uint64_t values[] = {
	0,
	1,
	0x7f,
	0x80,
	0xff,
	0x100,
	0xff00,
	0x7fffffff,
	0x80000000,
	0xffffffff,
	0x100000000,
	0x8000000000000000,
	0xffffffffffffffff,
	0x1122334455667788,
};
#define VALUES (sizeof(values) / sizeof(*values))

/* Make a function that executes `code` on RDI, RSI and RCX, with CF and OF set before, and writes the result to *RDX. */
static run_fn assemble(const char *code, size_t len)
{
	/* mov $0x7f, %al; add $1, %al, which overflows; stc */
	static const uint8_t before[] = {0xb0, 0x7f, 0x04, 0x01, 0xf9};
	/* pushfq; pop %rax; mov %rdi, (%rdx); mov %rsi, 8(%rdx); mov %rcx, 16(%rdx); mov %rax, 24(%rdx); ret */
	static const uint8_t behind[] = {0x9c, 0x58, 0x48, 0x89, 0x3a, 0x48, 0x89, 0x72, 0x08,
					 0x48, 0x89, 0x4a, 0x10, 0x48, 0x89, 0x42, 0x18, 0xc3};
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	run_fn run;

	assert_ptr_not_equal(page, MAP_FAILED);
	memcpy(page, before, sizeof(before));
	memcpy(page + sizeof(before), code, len);
	memcpy(page + sizeof(before) + len, behind, sizeof(behind));
	assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
	memcpy(&run, &page, sizeof(run));
	return run;
}

static void free_code(run_fn run)
{
	void *page;

	memcpy(&page, &run, sizeof(page));
	munmap(page, 4096);
}

static void check(const struct insn *insn, run_fn run, uint64_t rdi, uint64_t rsi, uint64_t rcx)
{
	struct x86_regs regs = {.rip = ADDR, .rflags = X86_RFLAGS_CF | X86_RFLAGS_OF | X86_RFLAGS_IF | 2};
	struct x86_regs after;
	struct result cpu = {0};
	bool test = (insn->bytes[insn->len - 2] & 0xfe) == 0x84,
	     subtract = (insn->bytes[0] & ~1u) == 0x48 && (insn->bytes[1] & ~2u) == 0x81;

	for (unsigned i = 0; i < X86_GPRS; i++)
		regs.gpr[i] = 0xabcd000000000000 + i;
	regs.gpr[X86_RDI] = rdi;
	regs.gpr[X86_RSI] = rsi;
	regs.gpr[X86_RCX] = rcx;
	after = regs;
	run(rdi, rsi, &cpu, rcx);
	after.rip += insn->len;
	after.gpr[X86_RDI] = cpu.rdi;
	after.gpr[X86_RSI] = cpu.rsi;
	after.gpr[X86_RCX] = cpu.rcx;
	if (test)
		after.rflags = (regs.rflags & ~(uint64_t)FLAGS) | (cpu.flags & FLAGS);
	if (subtract)
		after.rflags = (regs.rflags & ~(uint64_t)(FLAGS | X86_RFLAGS_AF)) | (cpu.flags & (FLAGS | X86_RFLAGS_AF));
	assert_int_equal(target_emulate(NULL, insn, &regs), 0);
	assert_memory_equal(&regs, &after, sizeof(regs));
}

static void test_as_a_cpu_does(void **state)
{
	static const struct {
		const char *code;
		size_t len;
	} insns[] = {
		{"\x84\xc9", 2},		     /* test %cl, %cl */
		{"\x84\xed", 2},		     /* test %ch, %ch */
		{"\x84\xe9", 2},		     /* test %ch, %cl */
		{"\x40\x84\xff", 3},		     /* test %dil, %dil */
		{"\x40\x84\xf7", 3},		     /* test %sil, %dil */
		{"\x85\xff", 2},		     /* test %edi, %edi */
		{"\x85\xf7", 2},		     /* test %esi, %edi */
		{"\x48\x85\xff", 3},		     /* test %rdi, %rdi */
		{"\x48\x85\xf7", 3},		     /* test %rsi, %rdi */
		{"\x89\xf7", 2},		     /* mov %esi, %edi */
		{"\x8b\xf7", 2},		     /* mov %esi, %edi in its other encoding, with the operands swapped */
		{"\x48\x89\xf7", 3},		     /* mov %rsi, %rdi */
		{"\x48\x8b\xcf", 3},		     /* mov %rdi, %rcx */
		{"\x40\x89\xff", 3},		     /* mov %edi, %edi, which clears the upper half */
		{"\x48\x83\xef\x20", 4},	     /* sub $0x20, %rdi */
		{"\x48\x83\xe9\x80", 4},	     /* sub $-0x80, %rcx */
		{"\x48\x83\xee\x01", 4},	     /* sub $1, %rsi */
		{"\x48\x81\xef\xf8\x12\x00\x00", 7}, /* sub $0x12f8, %rdi */
		{"\x48\x81\xee\x00\x00\x00\x80", 7}, /* sub $-0x80000000, %rsi */
	};
	struct insn_decoder *decoder = insn_decoder_new();

	(void)state;
	assert_non_null(decoder);
	for (size_t i = 0; i < sizeof(insns) / sizeof(*insns); i++) {
		run_fn run = assemble(insns[i].code, insns[i].len);
		struct insn insn;

		assert_int_equal(insn_decode(decoder, (const uint8_t *)insns[i].code, insns[i].len, ADDR, &insn), insns[i].len);
		assert_true(target_can_emulate(&insn));
		for (size_t a = 0; a < VALUES; a++) {
			for (size_t b = 0; b < VALUES; b++)
				check(&insn, run, values[a], values[b], values[a] ^ values[b]);
		}
		free_code(run);
	}
	insn_decoder_free(decoder);
}

/* The bits of REX lead to the upper eight registers. */
static void test_upper_registers(void **state)
{
	const struct insn to = {.addr = ADDR, .len = 3, .bytes = {0x49, 0x89, 0xc4}};		     /* mov %rax, %r12 */
	const struct insn from = {.addr = ADDR, .len = 3, .bytes = {0x4c, 0x89, 0xf8}};		     /* mov %r15, %rax */
	const struct insn test = {.addr = ADDR, .len = 3, .bytes = {0x4d, 0x85, 0xe4}};		     /* test %r12, %r12 */
	const struct insn frame = {.addr = ADDR, .len = 4, .bytes = {0x48, 0x83, 0xec, 0x20}};	     /* sub $0x20, %rsp */
	const struct insn large = {.addr = ADDR, .len = 7, .bytes = {0x49, 0x81, 0xec, 0, 1, 0, 0}}; /* sub $0x100, %r12 */
	const struct insn subtract = {.addr = ADDR, .len = 4, .bytes = {0x49, 0x83, 0xec, 0x03}};    /* sub $3, %r12 */
	struct x86_regs regs = {.gpr = {[X86_RAX] = 5, [12] = 7, [X86_R15] = 0}, .rip = ADDR};

	(void)state;
	assert_int_equal(target_emulate(NULL, &to, &regs), 0);
	assert_int_equal(regs.gpr[12], 5);
	assert_int_equal(target_emulate(NULL, &test, &regs), 0);
	assert_int_equal(regs.rflags, X86_RFLAGS_PF); /* 5 has two bits */
	assert_int_equal(target_emulate(NULL, &from, &regs), 0);
	assert_int_equal(regs.gpr[X86_RAX], 0);
	assert_int_equal(target_emulate(NULL, &subtract, &regs), 0);
	assert_int_equal(regs.gpr[12], 2);
	regs.gpr[X86_RSP] = 0x1010;
	assert_int_equal(target_emulate(NULL, &frame, &regs), 0);
	assert_int_equal(regs.gpr[X86_RSP], 0xff0);
	assert_int_equal(regs.gpr[12], 2);
	assert_int_equal(target_emulate(NULL, &large, &regs), 0);
	assert_int_equal(regs.gpr[12], (uint64_t)2 - 0x100);
	assert_int_equal(regs.rflags & FLAGS, X86_RFLAGS_CF | X86_RFLAGS_SF);
}

/* The emulator refuses instructions with similar bytes and another meaning. */
static void test_refused(void **state)
{
	static const struct insn refused[] = {
		{.len = 2, .bytes = {0x85, 0x00}},	       /* test %eax, (%rax) */
		{.len = 3, .bytes = {0x85, 0x40, 0x08}},       /* test %eax, 8(%rax) */
		{.len = 3, .bytes = {0x66, 0x85, 0xc0}},       /* test %ax, %ax */
		{.len = 4, .bytes = {0x66, 0x48, 0x85, 0xc0}}, /* with a prefix that the CPU ignores */
		{.len = 2, .bytes = {0x87, 0xc1}},	       /* xchg */
		{.len = 2, .bytes = {0x8d, 0xc1}},	       /* no instruction */
		{.len = 2, .bytes = {0x89, 0x07}},	       /* mov %eax, (%rdi) */
		{.len = 2, .bytes = {0x8c, 0xd8}},	       /* mov %ds, %eax */
		{.len = 2, .bytes = {0xf6, 0xc0}},	       /* incomplete */
		{.len = 3, .bytes = {0x0f, 0x85, 0xc0}},       /* incomplete */
		{.len = 3, .bytes = {0xf0, 0x85, 0xc0}},       /* LOCK is not allowed */
		{.len = 3, .bytes = {0x83, 0xec, 0x20}},       /* sub $0x20, %esp */
		{.len = 4, .bytes = {0x48, 0x83, 0xc4, 0x20}}, /* add $0x20, %rsp */
		{.len = 4, .bytes = {0x48, 0x83, 0x2c, 0x20}}, /* sub of memory, incomplete */
		{.len = 4, .bytes = {0x48, 0x29, 0xec, 0x20}}, /* not one instruction */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		assert_false(target_can_emulate(&refused[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_a_cpu_does),
		cmocka_unit_test(test_upper_registers),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
