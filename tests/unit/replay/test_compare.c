// SPDX-License-Identifier: GPL-2.0-or-later
/* Which differences between two orders count, in made-up runs, and which trouble a kernel's console reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/replay/compare.h"

#define PAGE 0x5000u
#define OTHER 0x7000u
#define DATUM (PAGE + 0x40)

struct bench {
	struct compare_run *runs[2][2];
	struct compare c;
	struct replay_instance out;
	uint8_t before[X86_PAGE_SIZE];
};

static const uint8_t *page_before(void *ctx, uint64_t gpa)
{
	struct bench *b = ctx;

	return gpa == PAGE || gpa == OTHER ? b->before : NULL;
}

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	for (unsigned i = 0; i < 4; i++) {
		struct compare_run *r = calloc(1, sizeof(*r));

		assert_non_null(r);
		for (unsigned side = 0; side < 2; side++) {
			r->order.regions[side].end = REPLAY_END_RETURN;
			r->order.regions[side].instructions = 10 + side;
		}
		b->runs[i / 2][i % 2] = r;
		b->c.runs[i / 2][i % 2] = r;
	}
	b->c.before = page_before;
	b->c.ctx = b;
	b->c.datum = (struct compare_range){DATUM, 4};
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	for (unsigned i = 0; i < 4; i++)
		free(b->runs[i / 2][i % 2]);
	free(b);
	return 0;
}

/* Mark the page with this GPA as written by the run, and return it. Callers must go through the pages by rising GPA. */
static uint8_t *written(struct compare_run *r, uint64_t gpa)
{
	uint64_t page = gpa & ~(uint64_t)(X86_PAGE_SIZE - 1);

	for (uint32_t i = 0; i < r->page_count; i++)
		if (r->page_gpa[i] == page)
			return &r->page[i][gpa - page];
	r->page_gpa[r->page_count] = page;
	return &r->page[r->page_count++][gpa - page];
}

static void write_order(struct bench *b, unsigned order, uint64_t gpa, uint32_t value)
{
	for (unsigned run = 0; run < 2; run++)
		memcpy(written(b->runs[order][run], gpa), &value, sizeof(value));
}

static void write_run(struct bench *b, unsigned order, unsigned run, uint64_t gpa, uint32_t value)
{
	memcpy(written(b->runs[order][run], gpa), &value, sizeof(value));
}

/* Compare, and check what must hold for any instance. */
static const struct replay_instance *compare(struct bench *b)
{
	memset(&b->out, 0, sizeof(b->out));
	compare_orders(&b->c, &b->out);
	assert_null(replay_instance_wrong(&b->out));
	return &b->out;
}

static void same_state_is_no_change(void **state)
{
	struct bench *b = *state;
	const struct replay_instance *out;

	write_order(b, 0, DATUM, 7);
	write_order(b, 1, DATUM, 7);
	out = compare(b);
	assert_int_equal(out->outcome, REPLAY_NO_STATE_CHANGE);
	assert_int_equal(out->orders[1].regions[1].instructions, 11);
	assert_int_equal(out->orders[1].regions[1].end, REPLAY_END_RETURN);
}

static void datum_comes_first(void **state)
{
	struct bench *b = *state;
	const struct replay_instance *out;

	write_order(b, 0, PAGE, 1);
	write_order(b, 1, PAGE, 2);
	write_order(b, 0, DATUM, 0x100);
	write_order(b, 1, DATUM, 0x101);
	out = compare(b);
	assert_int_equal(out->outcome, REPLAY_STATE_CHANGE);
	assert_int_equal(out->difference_count, 2);
	assert_int_equal(out->differences[0].gpa, DATUM);
	assert_int_equal(out->differences[0].len, 1);
	assert_int_equal(out->differences[0].bytes[0][0], 0);
	assert_int_equal(out->differences[0].bytes[1][0], 1);
	assert_int_equal(out->differences[1].gpa, PAGE);
}

static void difference_is_an_aligned_value(void **state)
{
	struct bench *b = *state;
	const struct replay_instance *out;

	/* Bytes 1 to 3 differ: the result has all 4 bytes. */
	write_order(b, 0, DATUM, 0x11223344);
	write_order(b, 1, DATUM, 0x55667744);
	out = compare(b);
	assert_int_equal(out->differences[0].len, 4);
	assert_int_equal(out->differences[0].gpa, DATUM);
	assert_int_equal(out->differences[0].bytes[1][3], 0x55);
}

static void page_that_one_order_leaves_alone_is_as_before(void **state)
{
	struct bench *b = *state;
	const struct replay_instance *out;

	b->before[0x48] = 9;
	write_order(b, 0, OTHER + 0x48, 9);
	assert_int_equal(compare(b)->outcome, REPLAY_NO_STATE_CHANGE);
	write_order(b, 0, OTHER + 0x48, 8);
	out = compare(b);
	assert_int_equal(out->outcome, REPLAY_STATE_CHANGE);
	assert_int_equal(out->differences[0].bytes[1][0], 9);
}

static void clocks_are_noise(void **state)
{
	struct bench *b = *state;

	/* Only the low half of the word differs between two runs of an order, and only the high half between the orders. */
	write_run(b, 0, 0, PAGE, 1);
	write_run(b, 0, 1, PAGE, 2);
	write_order(b, 0, PAGE + 4, 5);
	write_order(b, 1, PAGE, 3);
	write_order(b, 1, PAGE + 4, 6);
	assert_int_equal(compare(b)->outcome, REPLAY_NO_STATE_CHANGE);
	/* A difference in the word after it is not noise. */
	write_order(b, 0, PAGE + 8, 5);
	assert_int_equal(compare(b)->outcome, REPLAY_STATE_CHANGE);
	assert_int_equal(b->out.difference_count, 1);
}

static void dead_stack_is_left_out(void **state)
{
	struct bench *b = *state;

	write_order(b, 0, PAGE + 0x80, 5);
	for (unsigned i = 0; i < 4; i++) {
		b->runs[i / 2][i % 2]->dead[0] = (struct compare_range){PAGE, 0x88};
		b->runs[i / 2][i % 2]->dead_count = 1;
	}
	assert_int_equal(compare(b)->outcome, REPLAY_NO_STATE_CHANGE);
	/* Memory that is live in one run counts as live. */
	b->runs[1][1]->dead[0].len = 0x80;
	assert_int_equal(compare(b)->outcome, REPLAY_STATE_CHANGE);
}

static void set_register(struct bench *b, unsigned order, unsigned gpr, uint64_t value)
{
	for (unsigned run = 0; run < 2; run++)
		b->runs[order][run]->order.regs[1].gpr[gpr] = value;
}

static void live_registers_are_compared(void **state)
{
	struct bench *b = *state;
	const struct replay_instance *out;

	/* A function may change RCX and R11, so a difference there does not count. */
	set_register(b, 0, X86_RCX, 1);
	set_register(b, 0, 11, 1);
	assert_int_equal(compare(b)->outcome, REPLAY_NO_STATE_CHANGE);
	set_register(b, 1, X86_RAX, 0x1122);
	out = compare(b);
	assert_int_equal(out->outcome, REPLAY_STATE_CHANGE);
	assert_int_equal(out->difference_count, 1);
	assert_true(out->differences[0].is_register);
	assert_int_equal(out->differences[0].side, 1);
	assert_string_equal(out->differences[0].name, "rax");
	assert_int_equal(out->differences[0].bytes[1][1], 0x11);
	/* No caller uses the function's return value. */
	b->c.result_unused[1] = true;
	assert_int_equal(compare(b)->outcome, REPLAY_NO_STATE_CHANGE);
	/* In the middle of a function all registers may be live. */
	for (unsigned i = 0; i < 4; i++)
		b->runs[i / 2][i % 2]->order.regions[1].end = REPLAY_END_LIMIT;
	assert_int_equal(compare(b)->difference_count, 3);
}

static void register_that_a_clock_is_in_is_noise(void **state)
{
	struct bench *b = *state;

	set_register(b, 0, X86_RAX, 1);
	b->runs[1][0]->order.regs[1].gpr[X86_RAX] = 2;
	b->runs[1][1]->order.regs[1].gpr[X86_RAX] = 3;
	assert_int_equal(compare(b)->outcome, REPLAY_NO_STATE_CHANGE);
}

static void side_that_ends_elsewhere_is_a_change(void **state)
{
	struct bench *b = *state;
	const struct replay_instance *out;

	for (unsigned run = 0; run < 2; run++) {
		b->runs[1][run]->order.regions[1].end = REPLAY_END_BLOCKED;
		b->runs[1][run]->order.regs[1].rip = 0x9000;
	}
	out = compare(b);
	assert_int_equal(out->outcome, REPLAY_STATE_CHANGE);
	assert_string_equal(out->differences[0].name, "rip");
}

static void failures_say_why(void **state)
{
	struct bench *b = *state;
	const struct replay_instance *out;

	for (unsigned run = 0; run < 2; run++)
		b->runs[1][run]->order.regions[0].end = REPLAY_END_LIMIT;
	out = compare(b);
	assert_int_equal(out->outcome, REPLAY_FAILURE);
	assert_int_equal(out->why, REPLAY_ENDLESS);
	assert_non_null(strstr(out->why_text, "order 2"));

	b->runs[1][1]->order.regions[0].end = REPLAY_END_RETURN;
	assert_int_equal(compare(b)->why, REPLAY_CANNOT_LOAD);

	b->runs[0][0]->order.failure = REPLAY_FAULT;
	b->runs[0][0]->order.why = "it died";
	out = compare(b);
	assert_int_equal(out->why, REPLAY_FAULT);
	assert_string_equal(out->why_text, "order 1: it died");

	b->runs[0][0]->trouble = TROUBLE_WARNING;
	strcpy(b->runs[0][0]->trouble_line, "refcount_t: underflow; use-after-free.");
	out = compare(b);
	assert_int_equal(out->why, REPLAY_WARNING);
	assert_string_equal(out->why_text, "order 1: refcount_t: underflow; use-after-free.");
}

static void only_the_first_differences_are_kept(void **state)
{
	struct bench *b = *state;
	const struct replay_instance *out;

	for (unsigned i = 0; i < 100; i++)
		write_order(b, 0, PAGE + 8 * i, 1);
	out = compare(b);
	assert_int_equal(out->difference_count, 100);
	assert_int_equal(out->kept, REPLAY_DIFFERENCES_MAX);
}

static void check_trouble(const char *text, enum trouble trouble, const char *line)
{
	char found[REPLAY_TEXT_MAX];

	assert_int_equal(trouble_find(text, strlen(text), found), trouble);
	assert_string_equal(found, line);
}

static void first_line_of_trouble_is_found(void **state)
{
	(void)state;
	check_trouble("", TROUBLE_NONE, "");
	check_trouble("[    1.0] e1000: debugging on\n[    1.1] Loops per jiffy\n", TROUBLE_NONE, "");
	check_trouble("[    1.0] all is well\r\n[    2.5][  T17] ------------[ cut here ]------------\r\n"
		      "[    2.5][  T17] refcount_t: underflow; use-after-free.\r\n[    2.6] WARNING: CPU: 1 PID: 17 at "
		      "lib/refcount.c:28\n",
		      TROUBLE_WARNING, "refcount_t: underflow; use-after-free.");
	check_trouble("[ 2.5] ------------[ cut here ]------------\r\n[ 2.5] Trying to vfree() nonexistent vm area (1)\r\n"
		      "[ 2.6] WARNING: CPU: 0 PID: 9 at mm/vmalloc.c:2734 __vunmap+0x2a/0x2f0\r\n",
		      TROUBLE_WARNING, "Trying to vfree() nonexistent vm area (1)");
	check_trouble("[ 2.5] ------------[ cut here ]------------\r\n[ 2.6] WARNING: CPU: 0 PID: 9 at fs/inode.c:1\r\n",
		      TROUBLE_WARNING, "WARNING: CPU: 0 PID: 9 at fs/inode.c:1");
	check_trouble("[ 2.5] ------------[ cut here ]------------\r\n[ 2.5] said\r\n[ 2.6] BUG: all is lost\r\n",
		      TROUBLE_FAULT, "BUG: all is lost");
	check_trouble("[ 4.0] BUG kmalloc-32 (Not tainted): Freechain corrupt\n", TROUBLE_WARNING,
		      "BUG kmalloc-32 (Not tainted): Freechain corrupt");
	check_trouble("[ 4.0] DEBUG kmalloc-32 (Not tainted): fine\n[ 4.1] BUG of mine\n", TROUBLE_NONE, "");
	check_trouble("[ 3.1] BUG: unable to handle page fault for address: 00000", TROUBLE_FAULT,
		      "BUG: unable to handle page fault for address: 00000");
	check_trouble("general protection fault, probably for non-canonical address 0xdead: 0000 [#1]\n", TROUBLE_FAULT,
		      "general protection fault, probably for non-canonical address 0xdead: 0000 [#1]");
}

static void console_may_be_anything(void **state)
{
	static const char text[] = "[[[ ] [\n\n]\0BUG: a\0b\n";
	char found[REPLAY_TEXT_MAX], long_line[1000];

	(void)state;
	assert_int_equal(trouble_find(text, sizeof(text) - 1, found), TROUBLE_FAULT);
	assert_int_equal(strlen(found), 10);
	memset(long_line, 'x', sizeof(long_line));
	memcpy(long_line, "BUG: ", 5);
	assert_int_equal(trouble_find(long_line, sizeof(long_line), found), TROUBLE_FAULT);
	assert_int_equal(strlen(found), REPLAY_TEXT_MAX - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(same_state_is_no_change),
		TEST(datum_comes_first),
		TEST(difference_is_an_aligned_value),
		TEST(page_that_one_order_leaves_alone_is_as_before),
		TEST(clocks_are_noise),
		TEST(dead_stack_is_left_out),
		TEST(live_registers_are_compared),
		TEST(register_that_a_clock_is_in_is_noise),
		TEST(side_that_ends_elsewhere_is_a_change),
		TEST(failures_say_why),
		TEST(only_the_first_differences_are_kept),
		cmocka_unit_test(first_line_of_trouble_is_found),
		cmocka_unit_test(console_may_be_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
