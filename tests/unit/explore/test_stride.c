// SPDX-License-Identifier: GPL-2.0-or-later
/* A stride goes as far as the next instruction is known and need not be looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/explore/stride.h"

#define BASE UINT64_C(0xffffffff81000000)
#define ZF 0x40u

struct code {
	const uint8_t *bytes;
	size_t len;
	struct insn_decoder *decoder;
	struct insn insn;
};

static const struct insn *insn_at(void *ctx, uint64_t pc)
{
	struct code *c = ctx;

	return pc - BASE < c->len && insn_decode(c->decoder, c->bytes + (pc - BASE), c->len - (pc - BASE), pc, &c->insn)
		       ? &c->insn
		       : NULL;
}

static bool accesses_memory(void *ctx, const struct insn *insn)
{
	(void)ctx;
	return insn->nmem > 0;
}

/* Find the stride at `from`. Returns its instructions; sets *end to its end, as an offset. */
static unsigned find(const uint8_t *bytes, size_t len, unsigned from, uint64_t rflags, unsigned *end)
{
	struct code c = {.bytes = bytes, .len = len, .decoder = insn_decoder_new()};
	const struct stride_code code = {.insn = insn_at, .is_wanted = accesses_memory, .ctx = &c};
	const struct x86_regs regs = {.rip = BASE + from, .rflags = rflags};
	struct insn first;
	uint64_t at = BASE;
	unsigned count;

	assert_non_null(insn_at(&c, BASE + from));
	first = c.insn;
	count = stride_find(&code, &first, &regs, &at);
	*end = (unsigned)(at - BASE);
	insn_decoder_free(c.decoder);
	return count;
}

static const uint8_t straight[] = {
	0x48, 0x89, 0xc3,	/* 0: mov rbx, rax */
	0xeb, 0x02,		/* 3: jmp 7 */
	0x90, 0x90,		/* 5 */
	0x48, 0xff, 0xc0,	/* 7: inc rax */
	0x85, 0xc0,		/* 10: test eax, eax */
	0x74, 0x04,		/* 12: je 18 */
	0x48, 0x8b, 0x07,	/* 14: mov rax, [rdi] */
	0xc3,			/* 17: ret */
	0x31, 0xc0,		/* 18: xor eax, eax */
	0x90,			/* 20: nop */
	0xe8, 0,    0,	  0, 0, /* 21: call */
	0xeb, 0xfe,		/* 26: jmp 26 */
};

static void ends_before_a_branch_that_flags_decide(void **state)
{
	unsigned end;

	(void)state;
	assert_int_equal(find(straight, sizeof(straight), 0, 0, &end), 4);
	assert_int_equal(end, 12);
}

static void flags_decide_the_first_branch(void **state)
{
	unsigned end;

	(void)state;
	assert_int_equal(find(straight, sizeof(straight), 12, ZF, &end), 3);
	assert_int_equal(end, 21);
	/* Not taken: the next instruction is wanted, and a single step comes there. */
	assert_int_equal(find(straight, sizeof(straight), 12, 0, &end), 0);
}

static void an_access_that_was_looked_at_begins_one(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x07, 0x90, 0x90, 0xc3};
	unsigned end;

	(void)state;
	assert_int_equal(find(code, sizeof(code), 0, 0, &end), 3);
	assert_int_equal(end, 5);
}

static void calls_and_returns_and_loops_are_stepped(void **state)
{
	unsigned end;

	(void)state;
	assert_int_equal(find(straight, sizeof(straight), 21, 0, &end), 0);
	assert_int_equal(find(straight, sizeof(straight), 17, 0, &end), 0);
	assert_int_equal(find(straight, sizeof(straight), 26, 0, &end), 0);
}

static void a_loop_of_jumps_has_an_end(void **state)
{
	static const uint8_t code[] = {0x90, 0x90, 0xeb, 0xfd, 0xeb, 0xfc}; /* 2: jmp 1 */
	unsigned end;

	(void)state;
	assert_true(find(code, sizeof(code), 0, 0, &end) <= 64);
	assert_true(end > 0);
	/* A breakpoint where the CPU is already would stop it at once. */
	find(code, sizeof(code), 1, 0, &end);
	assert_int_not_equal(end, 1);
}

/* Jcc with each condition, with the flags that the SDM names for it. */
static void all_conditions(void **state)
{
	static const struct {
		uint64_t met[2], not_met[2]; /* RFLAGS */
	} flags[8] = {
		{{0x800, 0x8c0}, {0, 0xc5}}, /* OF */
		{{1, 0x841}, {0, 0x840}},    /* CF */
		{{ZF, 0x8c0}, {0, 0x885}},   /* ZF */
		{{1, ZF}, {0, 0x884}},	     /* CF or ZF */
		{{0x80, 0x8c5}, {0, 0x845}}, /* SF */
		{{4, 0x8c5}, {0, 0x8c1}},    /* PF */
		{{0x80, 0x800}, {0, 0x880}}, /* SF != OF */
		{{ZF, 0x8c0}, {0, 0x880}},   /* ZF, or SF != OF */
	};
	uint8_t code[] = {0x70, 3, 0x90, 0x90, 0xc3, 0x90, 0xc3, 0xc3}; /* jcc 5; 2: nop, nop, ret; 5: nop, ret */
	unsigned end;

	(void)state;
	for (unsigned cc = 0; cc < 16; cc++) {
		code[0] = (uint8_t)(0x70 + cc);
		for (unsigned i = 0; i < 2; i++) {
			uint64_t taken = cc & 1 ? flags[cc / 2].not_met[i] : flags[cc / 2].met[i];
			uint64_t not_taken = cc & 1 ? flags[cc / 2].met[i] : flags[cc / 2].not_met[i];

			assert_int_equal(find(code, sizeof(code), 0, taken, &end), 2);
			assert_int_equal(end, 6);
			assert_int_equal(find(code, sizeof(code), 0, not_taken, &end), 3);
			assert_int_equal(end, 4);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_before_a_branch_that_flags_decide),
		cmocka_unit_test(flags_decide_the_first_branch),
		cmocka_unit_test(an_access_that_was_looked_at_begins_one),
		cmocka_unit_test(calls_and_returns_and_loops_are_stepped),
		cmocka_unit_test(a_loop_of_jumps_has_an_end),
		cmocka_unit_test(all_conditions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
