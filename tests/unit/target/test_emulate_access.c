// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An emulated access has the same result as on a CPU: the CPU that runs this test executes the same bytes, on memory at RDI.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/mman.h>

#include "hv/target/emulate_access.h"
#include "tests/unit/target/fake_target.h"

#define ADDR 0xffffffff81000000ull
#define DATA 0xffff888000100000ull
#define DATA_GPA 0x500000ull
#define DATA_SIZE 0x2000ull
#define IO 0xffffc90000900000ull
#define USER 0x00007f0000100000ull
#define PTE_WRITABLE (1ull << 1)
#define PTE_ACCESSED (1ull << 5)
#define PTE_DIRTY (1ull << 6)
#define LOGICAL (X86_RFLAGS_CF | X86_RFLAGS_PF | X86_RFLAGS_ZF | X86_RFLAGS_SF | X86_RFLAGS_OF)
/* AF is undefined after a logical instruction, and defined after an arithmetic one. */
#define ARITHMETIC (LOGICAL | X86_RFLAGS_AF)

static const uint64_t values[] = {
	0,
	1,
	0x7f,
	0x80,
	0xff,
	0x7fff,
	0x8000,
	0xffff,
	0x7fffffff,
	0x80000000,
	0xffffffff,
	0x100000000,
	0x7fffffffffffffff,
	0x8000000000000000,
	0xffffffffffffffff,
	0x1122334455667788,
};
#define VALUES (sizeof(values) / sizeof(*values))

struct machine {
	struct fake_target *ft;
	uint64_t cr3;
	struct insn_decoder *decoder;
	uint8_t *code; /* A page that this CPU may execute and write. */
};

/* The state of a CPU and of memory, before or after an instruction. */
struct state {
	uint64_t rax, rcx, rbx, rsi, r8, flags, memory;
};

static int setup(void **state)
{
	static struct machine m;

	m.ft = fake_target_new(1, 4);
	m.decoder = insn_decoder_new();
	m.code = mmap(NULL, X86_PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!m.ft || !m.decoder || m.code == MAP_FAILED)
		return -1;
	m.cr3 = fake_page(m.ft);
	fake_map(m.ft, m.cr3, 4, DATA, DATA_GPA, DATA_SIZE, 12);
	fake_map(m.ft, m.cr3, 4, USER, DATA_GPA, DATA_SIZE, 12);
	fake_map(m.ft, m.cr3, 4, IO, 1ull << 40, X86_PAGE_SIZE, 12);
	*state = &m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	munmap(m->code, X86_PAGE_SIZE);
	insn_decoder_free(m->decoder);
	fake_target_free(m->ft);
	return 0;
}

/* Execute m->code, which ends with a ret. The call and the push must not overwrite the compiler's red zone below RSP. */
static void execute(const struct machine *m, struct state *s)
{
	register uint64_t r8 __asm__("r8") = s->r8;
	uint64_t *memory = &s->memory, flags = s->flags;
	const uint8_t *code = m->code;

	__asm__ volatile("lea -256(%%rsp), %%rsp\n\t"
			 "push %[flags]\n\t"
			 "popfq\n\t"
			 "call *%[code]\n\t"
			 "pushfq\n\t"
			 "pop %[flags]\n\t"
			 "lea 256(%%rsp), %%rsp"
			 : "+a"(s->rax), "+c"(s->rcx), "+b"(s->rbx), "+S"(s->rsi), "+r"(r8), [flags] "+d"(flags), "+D"(memory)
			 : [code] "r"(code)
			 : "memory", "cc");
	s->r8 = r8;
	s->flags = flags;
}

static struct x86_regs regs_of(const struct machine *m, const struct state *s, uint64_t rdi)
{
	struct x86_regs regs = {.rip = ADDR, .rflags = s->flags | X86_RFLAGS_IF | 2, .cr3 = m->cr3, .cs = 0x10};

	for (unsigned i = 0; i < X86_GPRS; i++)
		regs.gpr[i] = 0xabcd000000000000 + i;
	regs.gpr[X86_RAX] = s->rax;
	regs.gpr[X86_RCX] = s->rcx;
	regs.gpr[X86_RBX] = s->rbx;
	regs.gpr[X86_RSI] = s->rsi;
	regs.gpr[X86_R8] = s->r8;
	regs.gpr[X86_RDI] = rdi;
	return regs;
}

static struct insn decode(const struct machine *m, const uint8_t *code, size_t len)
{
	struct insn insn = {0};

	assert_int_equal(insn_decode(m->decoder, code, len, ADDR, &insn), len);
	return insn;
}

/* Emulate the instruction, and execute it on the CPU. Check that the results agree. Returns false if the emulator refuses it.
 */
static bool same(const struct machine *m, const struct insn *insn, const struct state *before, uint64_t flags)
{
	struct state cpu = *before;
	struct x86_regs regs = regs_of(m, before, DATA), after;
	uint64_t memory;

	fake_write(m->ft, DATA_GPA, &before->memory, sizeof(before->memory));
	if (target_emulate_access(&m->ft->target, insn, &regs))
		return false;
	execute(m, &cpu);
	after = regs_of(m, &cpu, DATA);
	after.rip += insn->len;
	after.rflags = (regs_of(m, before, DATA).rflags & ~flags) | (cpu.flags & flags);
	regs.rflags &= ~(ARITHMETIC & ~flags);
	after.rflags &= ~(ARITHMETIC & ~flags);
	assert_memory_equal(&regs, &after, sizeof(regs));
	assert_int_equal(target_read(&m->ft->target, m->cr3, 0, DATA, &memory, sizeof(memory)), 0);
	assert_int_equal(memory, cpu.memory);
	return true;
}

/* Try an instruction with all values in memory and in the registers, and with CF set and clear. Returns how many were emulated.
 */
static unsigned all_values(const struct machine *m, const uint8_t *code, size_t len, uint64_t flags)
{
	const struct insn insn = decode(m, code, len);
	unsigned done = 0;

	memcpy(m->code, code, len);
	m->code[len] = 0xc3; /* ret */
	for (unsigned i = 0; i < 2 * VALUES * VALUES; i++) {
		uint64_t value = values[i / 2 % VALUES];
		const struct state before = {
			.rax = value,
			.rcx = ~value,
			.rbx = value ^ 0x5500,
			.rsi = value + 1,
			.r8 = value * 3,
			.flags = 2 | (i & 1 ? X86_RFLAGS_CF : X86_RFLAGS_OF | X86_RFLAGS_ZF),
			.memory = values[i / 2 / VALUES],
		};

		done += same(m, &insn, &before, flags);
	}
	return done;
}

/* The prefixes that an instruction may have, and the numbers of its register that can be tested with them. */
static const struct prefix {
	uint8_t bytes[2], len;
	const char *registers;
} prefixes[] = {
	{{0}, 0, "\0\1\3\6"}, {{0x66}, 1, "\0\1\3\6"}, {{0x48}, 1, "\0\1\3\6"}, {{0x40}, 1, "\0\1\3\6"},
	{{0x44}, 1, "\0"},    {{0x4c}, 1, "\0"},       {{0x66, 0x44}, 2, "\0"}, {{0x3e}, 1, "\1"},
};

/* Try an opcode with each register operand. `bytes`: the operand has one byte. */
static void with_registers(const struct machine *m, const uint8_t *opcode, size_t len, bool bytes, uint64_t flags)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		const struct prefix *p = &prefixes[i];
		/* Without a REX prefix, byte register 6 is DH, whose register has the flags here, and 7 is BH. */
		bool high = bytes && !(p->bytes[p->len ? p->len - 1 : 0] & 0x40);
		uint8_t code[8], *end = code;

		for (unsigned reg = 0; reg < 4; reg++) {
			uint8_t field = (uint8_t)p->registers[reg];

			if (reg && !field)
				break;
			if (high && field == 6)
				field = 7;
			memcpy(code, p->bytes, p->len);
			end = code + p->len;
			memcpy(end, opcode, len);
			end += len;
			*end++ = (uint8_t)(field << 3 | 7); /* (%rdi) */
			if (bytes && (p->bytes[0] == 0x66 || p->bytes[0] == 0x3e))
				continue; /* compilers do not generate this */
			assert_int_equal(all_values(m, code, (size_t)(end - code), flags), 2 * VALUES * VALUES);
		}
	}
}

static void test_arithmetic(void **state)
{
	for (uint8_t operation = 0; operation < 8; operation++) {
		uint64_t flags = operation == 1 || operation == 4 || operation == 6 ? LOGICAL : ARITHMETIC;

		for (uint8_t form = 0; form < 4; form++) {
			uint8_t opcode = (uint8_t)(operation << 3 | form);

			with_registers(*state, &opcode, 1, !(form & 1), flags);
		}
	}
	with_registers(*state, (const uint8_t[]){0x84}, 1, true, LOGICAL);
	with_registers(*state, (const uint8_t[]){0x85}, 1, false, LOGICAL);
}

static void test_moves(void **state)
{
	for (uint8_t opcode = 0x88; opcode <= 0x8b; opcode++)
		with_registers(*state, &opcode, 1, !(opcode & 1), 0);
	for (unsigned i = 0; i < 4; i++) {
		const uint8_t opcode[] = {0x0f, (uint8_t[]){0xb6, 0xb7, 0xbe, 0xbf}[i]};

		with_registers(*state, opcode, 2, false, 0);
	}
}

static void test_immediates(void **state)
{
	static const struct {
		const char *code;
		size_t len;
		uint64_t flags;
	} insns[] = {
		{"\xc6\x07\x85", 3, 0},					 /* movb $0x85, (%rdi) */
		{"\x66\xc7\x07\x34\x92", 5, 0},				 /* movw $0x9234, (%rdi) */
		{"\xc7\x07\x78\x56\x34\x92", 6, 0},			 /* movl $0x92345678, (%rdi) */
		{"\x48\xc7\x07\x78\x56\x34\x92", 7, 0},			 /* movq $-0x6dcba988, (%rdi) */
		{"\x80\x07\x85", 3, ARITHMETIC},			 /* addb $0x85, (%rdi) */
		{"\x80\x0f\x80", 3, LOGICAL},				 /* orb $0x80, (%rdi) */
		{"\x83\x17\xff", 3, ARITHMETIC},			 /* adcl $-1, (%rdi) */
		{"\x48\x83\x1f\x7f", 4, ARITHMETIC},			 /* sbbq $0x7f, (%rdi) */
		{"\x48\x83\x27\xfe", 4, LOGICAL},			 /* andq $-2, (%rdi) */
		{"\x66\x83\x2f\x81", 4, ARITHMETIC},			 /* subw $-0x7f, (%rdi) */
		{"\x81\x37\x01\x00\x00\x80", 6, LOGICAL},		 /* xorl $0x80000001, (%rdi) */
		{"\x48\x81\x3f\x00\x00\x00\x80", 7, ARITHMETIC},	 /* cmpq $-0x80000000, (%rdi) */
		{"\x66\x81\x3f\x00\x80", 5, ARITHMETIC},		 /* cmpw $0x8000, (%rdi) */
		{"\xf6\x07\x80", 3, LOGICAL},				 /* testb $0x80, (%rdi) */
		{"\xf7\x07\x00\x00\x00\x80", 6, LOGICAL},		 /* testl $0x80000000, (%rdi) */
		{"\x48\xf7\x07\x00\x00\x00\x80", 7, LOGICAL},		 /* testq $-0x80000000, (%rdi) */
		{"\xfe\x07", 2, ARITHMETIC},				 /* incb (%rdi) */
		{"\x66\xff\x07", 3, ARITHMETIC},			 /* incw (%rdi) */
		{"\xff\x0f", 2, ARITHMETIC},				 /* decl (%rdi) */
		{"\x48\xff\x0f", 3, ARITHMETIC},			 /* decq (%rdi) */
		{"\x48\x63\x07", 3, 0},					 /* movslq (%rdi), %rax */
		{"\x8a\x27", 2, 0},					 /* mov (%rdi), %ah */
		{"\x00\x2f", 2, ARITHMETIC},				 /* add %ch, (%rdi) */
		{"\x89\x87\x00\x00\x00\x00", 6, 0},			 /* mov %eax, 0(%rdi) */
		{"\x48\x8b\x44\x27\x00", 5, 0},				 /* mov 0(%rdi), %rax, with a SIB */
		{"\x48\xc7\x87\x00\x00\x00\x00\xff\xff\xff\xff", 11, 0}, /* movq $-1, 0(%rdi) */
	};

	for (size_t i = 0; i < sizeof(insns) / sizeof(*insns); i++)
		assert_int_equal(all_values(*state, (const uint8_t *)insns[i].code, insns[i].len, insns[i].flags),
				 2 * VALUES * VALUES);
}

/* Try any opcode: every instruction that the emulator accepts must have the CPU's result. */
static void test_any_opcode(void **state)
{
	const struct machine *m = *state;
	const struct state before = {
		.rax = 0x1122, .rcx = 3, .rbx = 5, .rsi = 7, .r8 = 9, .flags = 2, .memory = 0x8877665544332211};
	unsigned done = 0, refused = 0;

	for (unsigned i = 0; i < 2 * 256 * 8; i++) {
		uint8_t code[16] = {0x48, 0x0f, (uint8_t)(i >> 3), (uint8_t)((i & 7) << 3 | 7), 0x11, 0x22, 0x33, 0x44};
		const uint8_t *start = i < 256 * 8 ? code : code + 1;
		struct x86_regs regs = regs_of(m, &before, DATA);
		struct insn insn;
		unsigned len;

		if (start != code)
			code[1] = 0x48;
		len = insn_decode(m->decoder, start, 12, ADDR, &insn);
		if (!len || target_emulate_access(&m->ft->target, &insn, &regs)) {
			refused++;
			continue;
		}
		done++;
		assert_int_equal(regs.rip, ADDR + len);
		if ((i & 7) == 2 || (i & 7) == 4 || (i & 7) == 5 || (i & 7) == 7)
			continue; /* RDX, RSP, RBP and RDI hold what the test needs */
		memcpy(m->code, start, len);
		m->code[len] = 0xc3;
		same(m, &insn, &before, LOGICAL);
	}
	assert_true(done > 200 && refused > 2000);
}

static void expect_refused(const struct machine *m, const char *code, size_t len, struct x86_regs regs)
{
	const struct insn insn = decode(m, (const uint8_t *)code, len);
	const struct x86_regs before = regs;

	assert_int_equal(target_emulate_access(&m->ft->target, &insn, &regs), -1);
	assert_memory_equal(&regs, &before, sizeof(regs));
}

#define STORE "\x48\x89\x07", 3 /* mov %rax, (%rdi) */
#define LOAD "\x48\x8b\x07", 3	/* mov (%rdi), %rax */

static void test_refused_memory(void **state)
{
	struct machine *m = *state;
	const struct state s = {.flags = 2};
	struct x86_regs regs = regs_of(m, &s, DATA);
	static const struct {
		uint64_t lacks;
		bool load, store;
	} pages[] = {{PTE_WRITABLE, true, false}, {PTE_DIRTY, true, false}, {PTE_ACCESSED, false, false}, {1, false, false}};

	expect_refused(m, STORE, regs_of(m, &s, USER));
	expect_refused(m, LOAD, regs_of(m, &s, USER));
	expect_refused(m, STORE, regs_of(m, &s, IO));
	expect_refused(m, LOAD, regs_of(m, &s, IO));
	expect_refused(m, STORE, regs_of(m, &s, DATA - 8));
	expect_refused(m, STORE, regs_of(m, &s, DATA + X86_PAGE_SIZE - 4));
	expect_refused(m, LOAD, regs_of(m, &s, DATA + DATA_SIZE - 1));
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		const struct insn store = decode(m, (const uint8_t *)STORE), load = decode(m, (const uint8_t *)LOAD);

		fake_page_lacks(m->ft, m->cr3, 4, DATA, pages[i].lacks);
		assert_int_equal(target_emulate_access(&m->ft->target, &load, &regs), pages[i].load ? 0 : -1);
		regs = regs_of(m, &s, DATA);
		assert_int_equal(target_emulate_access(&m->ft->target, &store, &regs), pages[i].store ? 0 : -1);
	}
	fake_page_lacks(m->ft, m->cr3, 4, DATA, 0);
}

static void test_refused_instructions(void **state)
{
	struct machine *m = *state;
	const struct state s = {.flags = 2};
	const struct x86_regs regs = regs_of(m, &s, DATA);
	struct x86_regs stepping = regs;

	expect_refused(m, "\xf0\x48\x01\x07", 4, regs);	    /* lock add %rax, (%rdi) */
	expect_refused(m, "\x48\x87\x07", 3, regs);	    /* xchg %rax, (%rdi) */
	expect_refused(m, "\x48\x0f\xc1\x07", 4, regs);	    /* xadd %rax, (%rdi) */
	expect_refused(m, "\xf3\xa4", 2, regs);		    /* rep movsb */
	expect_refused(m, "\xa4", 1, regs);		    /* movsb */
	expect_refused(m, "\xff\x37", 2, regs);		    /* push (%rdi) */
	expect_refused(m, "\xff\x17", 2, regs);		    /* call *(%rdi) */
	expect_refused(m, "\xff\x27", 2, regs);		    /* jmp *(%rdi) */
	expect_refused(m, "\xf7\x17", 2, regs);		    /* notl (%rdi) */
	expect_refused(m, "\x8c\x07", 2, regs);		    /* mov %es, (%rdi) */
	expect_refused(m, "\x0f\x11\x07", 3, regs);	    /* movups %xmm0, (%rdi) */
	expect_refused(m, "\x66\x0f\x6f\x07", 4, regs);	    /* movdqa (%rdi), %xmm0 */
	expect_refused(m, "\xf3\x48\x0f\xb8\x07", 5, regs); /* popcnt (%rdi), %rax */
	expect_refused(m, "\x48\x89\xf8", 3, regs);	    /* mov %rdi, %rax */
	stepping.rflags |= X86_RFLAGS_TF;
	expect_refused(m, STORE, stepping);
}

/* An address in the CPU's per-CPU area, by GS. */
static void test_own_area(void **state)
{
	struct machine *m = *state;
	const struct state s = {.flags = 2};
	struct x86_regs regs = regs_of(m, &s, DATA);
	const struct insn insn = decode(m, (const uint8_t *)"\x65\x48\x8b\x04\x25\x10\x00\x00\x00", 9); /* mov %gs:0x10, %rax */
	const uint64_t value = 0x123456789abcdef0;

	regs.gs_base = DATA + 0x200;
	fake_write(m->ft, DATA_GPA + 0x210, &value, sizeof(value));
	assert_int_equal(target_emulate_access(&m->ft->target, &insn, &regs), 0);
	assert_int_equal(regs.gpr[X86_RAX], value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic),     cmocka_unit_test(test_moves),
		cmocka_unit_test(test_immediates),     cmocka_unit_test(test_any_opcode),
		cmocka_unit_test(test_refused_memory), cmocka_unit_test(test_refused_instructions),
		cmocka_unit_test(test_own_area),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
