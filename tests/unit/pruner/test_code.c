// SPDX-License-Identifier: GPL-2.0-or-later
/* The kept code of a function: where instructions begin, their successors, and whether all paths into the code are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "tests/unit/pruner/prune_code.h"

/* ---- whether everything that the code can reach was kept ---- */

/* subl %eax,(%rdi); ret */
static void test_return_ends_the_function(void **state)
{
	struct code_bench *b = *state;

	code_take_part(b, CODE("\x29\x07\xc3"), 0);
	assert_true(b->code.closed);
}

/* xorl %eax,%eax; subl %eax,(%rdi); jmp .+0x2000, which jumps out of the kept code to `name` */
static void jump_away(struct code_bench *b, const char *name)
{
	code_take_part(b, CODE("\x31\xc0\x29\x07\xe9\x00\x20\x00\x00"), 2);
	if (name)
		code_callee(b, 4, name);
}

/* A jump to another function acts like a call that returns to this function's caller. */
static void test_jump_to_another_function(void **state)
{
	struct code_bench *b = *state;

	jump_away(b, "other");
	assert_true(b->code.closed);
}

static void test_jump_to_the_cold_part(void **state)
{
	struct code_bench *b = *state;

	jump_away(b, "f.cold");
	assert_false(b->code.closed);
}

static void test_jump_to_nobody_knows_what(void **state)
{
	struct code_bench *b = *state;

	jump_away(b, NULL);
	assert_false(b->code.closed);
}

/* xorl %eax,%eax; subl %eax,(%rdi) */
static const char no_end[] = "\x31\xc0\x29\x07";

static void test_on_behind_what_was_kept(void **state)
{
	struct code_bench *b = *state;

	code_take_part(b, CODE(no_end), 2);
	assert_false(b->code.closed);
}

static void test_on_behind_the_function(void **state)
{
	struct code_bench *b = *state;

	code_take(b, CODE(no_end), 2);
	assert_true(b->code.closed);
}

static void test_on_behind_a_function_of_unknown_size(void **state)
{
	struct code_bench *b = *state;

	code_take(b, CODE(no_end), 2);
	b->side.symbol.size = 0;
	code_reload(b);
	assert_false(b->code.closed);
}

/* subl %eax,(%rdi); jmp *(%rax) */
static void test_jump_through_a_table(void **state)
{
	struct code_bench *b = *state;

	code_take(b, CODE("\x29\x07\xff\x20"), 0);
	assert_false(b->code.closed);
}

/* subl %eax,(%rdi); ret */
static void test_function_that_begins_before_what_was_kept(void **state)
{
	struct code_bench *b = *state;

	code_take(b, CODE("\x29\x07\xc3"), 0);
	b->side.symbol.addr -= 16;
	b->side.symbol.size += 16;
	code_reload(b);
	assert_false(b->code.closed);
}

/* ---- mov %eax,(%rdi); ud2; nop ---- */

static const char store_and_ud2[] = "\x89\x07\x0f\x0b\x90";

/* The ud2 of a BUG() has no successor. */
static void test_ud2_where_the_function_ends(void **state)
{
	struct code_bench *b = *state;
	int next[2];

	code_take(b, CODE(store_and_ud2), 0);
	assert_int_equal(code_successors(&b->code, 1, next), 0);
}

/* The ud2 of a WARN_ON() has a successor, because the kernel resumes after it. */
static void test_ud2_where_the_function_goes_on(void **state)
{
	struct code_bench *b = *state;
	int next[2];

	code_take(b, CODE(store_and_ud2), 0);
	b->side.symbol.size++;
	code_reload(b);
	assert_int_equal(code_successors(&b->code, 1, next), 1);
	assert_int_equal(next[0], 2);
}

/* ---- where instructions begin ---- */

/* Old versions kept code from the middle of an instruction on. The decoder finds the boundaries before the access. */
static void test_code_that_starts_anywhere(void **state)
{
	/* The last bytes of movabs $...,%rax; then nop; mov %eax,(%rdi); ret */
	static const char code[] = "\xff\xff\x48\xb8\x90\x90\x90\x90\x90\x90\x90\x89\x07\xc3";
	struct code_bench *b = *state;

	code_take(b, CODE(code), 11);
	assert_int_equal(b->code.insns[code_access(b)].op.insn.addr, CODE_ADDR + 11);
}

static void test_access_that_is_no_instruction(void **state)
{
	struct code_bench *b = *state;

	code_take(b, CODE("\x06\x06\x06"), 1);
	assert_int_equal(b->code.access, -1);
}

static void test_no_code(void **state)
{
	struct code_bench *b = *state;

	code_take(b, CODE(""), 0);
	assert_int_equal(b->code.count, 0);
}

/* ---- any code ---- */

static const struct address_case {
	const char *text;
	uint64_t gva;
} address_cases[] = {
	{"code that is in the kernel", CODE_ADDR},
	{"code that is across the sign's change", INT64_MAX - 8},
	{"code that is across the end of addresses", UINT64_MAX - 8},
};

/* A report may claim any address. mov 0x7fffffff(%rip),%eax; mov %eax,0x7ffffff9(%rip) access the same address. */
static void test_code_that_is_anywhere(void **state)
{
	struct code_bench *b = *state;
	const struct address_case *c = b->row;

	code_take_at(b, c->gva, CODE("\x8b\x05\xff\xff\xff\x7f\x89\x05\xf9\xff\xff\x7f"), 6);
	assert_true(flow_same_place(b->flow, 0, 1));
}

/* For any bytes, decoding ends and stays within its memory, which the sanitizers check. */
static void test_any_bytes(void **state)
{
	struct code_bench *b = *state;
	struct rng rng = {7};
	uint8_t bytes[RACE_CODE_MAX];

	for (int round = 0; round < 300; round++) {
		size_t len = 1 + rng_below(&rng, sizeof(bytes));

		for (size_t i = 0; i < len; i++)
			bytes[i] = (uint8_t)rng_below(&rng, 256);
		/* Branches back and forth, loads and stores. */
		for (size_t i = 0; i + 4 < len && round & 1; i += 4)
			memcpy(bytes + i, rng_below(&rng, 2) ? "\x75\xf0\x8b\x07" : "\x89\x07\x74\x08", 4);
		code_take(b, bytes, len, 0);
		for (unsigned i = 0; i < b->code.count; i++) {
			struct flow_write write;
			struct flow_read read;

			flow_write(b->flow, i, &write);
			flow_read(b->flow, i, &read);
			flow_same_place(b->flow, i, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest alone[] = {
		CODE_TEST(test_return_ends_the_function),
		CODE_TEST(test_jump_to_another_function),
		CODE_TEST(test_jump_to_the_cold_part),
		CODE_TEST(test_jump_to_nobody_knows_what),
		CODE_TEST(test_on_behind_what_was_kept),
		CODE_TEST(test_on_behind_the_function),
		CODE_TEST(test_on_behind_a_function_of_unknown_size),
		CODE_TEST(test_jump_through_a_table),
		CODE_TEST(test_function_that_begins_before_what_was_kept),
		CODE_TEST(test_ud2_where_the_function_ends),
		CODE_TEST(test_ud2_where_the_function_goes_on),
		CODE_TEST(test_code_that_starts_anywhere),
		CODE_TEST(test_access_that_is_no_instruction),
		CODE_TEST(test_no_code),
		CODE_TEST(test_any_bytes),
	};
	struct CMUnitTest tests[ROWS(alone) + ROWS(address_cases)], *next = tests;

	for (size_t i = 0; i < ROWS(alone); i++)
		*next++ = alone[i];
	for (size_t i = 0; i < ROWS(address_cases); i++)
		*next++ = CODE_ROW(address_cases[i].text, test_code_that_is_anywhere, &address_cases[i]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
