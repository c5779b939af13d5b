// SPDX-License-Identifier: GPL-2.0-or-later
/* Handoffs of an object by a pointer without RCU, and code that resembles such a handoff. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "handed-over"
#define NO_CALL 0

/* The race between the taker's load of the pointer ("the box") and the giver's store to it, without names of the datum. */
static struct bench *box(void **state)
{
	struct bench *b = bench_of_sites(state, "gt_ptrbox_taker+0x6", "gt_ptrbox_giver+0x3f");

	bench_unnamed(b->race);
	return b;
}

static void test_taker_looks(void **state)
{
	struct bench *b = box(state);

	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_expect_among(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "gt_ptrbox_giver stores the pointer gt_ptrbox_box (+0x3f) after all its accesses to the object");
	bench_says(b, "gt_ptrbox_taker follows it only after a branch on it (+0x1f)");
	bench_says(b, "gt_ptrbox_giver stores only where it found NULL, and gt_ptrbox_taker stores NULL");
}

static void test_giver_looks(void **state)
{
	struct bench *b = bench_of_sites(state, "gt_ptrbox_giver+0x5", "gt_ptrbox_taker+0x14");

	bench_unnamed(b->race);
	bench_expect_among(b, VERDICT_UNCLEAR, RULE);
}

static void test_given_too_early(void **state)
{
	static const char *const pairs[][2] = {
		{"gt_ptrearly_taker+0x5", "gt_ptrearly_giver+0x12"},
		{"gt_ptrearly_giver+0x5", "gt_ptrearly_taker+0x11"},
		{"gt_ptrearly_taker+0xd", "gt_ptrearly_giver+0x15"},
	};

	for (size_t i = 0; i < ROWS(pairs); i++) {
		struct bench *b = bench_of_sites(state, pairs[i][0], pairs[i][1]);

		bench_expect_not(b, RULE);
		bench_expect_class(b, VERDICT_HARMFUL);
	}
}

/* Marked accesses on both sides do not help if the object itself was seen racing. */
static void test_marked_and_given_too_early(void **state)
{
	struct bench *b = bench_of_sites(state, "gt_ptrearly_taker+0x5", "gt_ptrearly_giver+0x12");

	bench_lines(b, "a.c", 2);
	bench_source(b, "smp_store_release(&object->box, smp_load_acquire(&at->box));");
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
	bench_expect_among(b, VERDICT_HARMFUL, "not-handed-over");
	bench_says(b, "fails: gt_ptrearly_taker sets it to NULL ");
}

static void test_marks_make_it_certain(void **state)
{
	struct bench *b = bench_of_sites(state, "gt_ptrbox_taker+0x6", "gt_ptrbox_giver+0x3f");

	bench_lines(b, "a.c", 2);
	bench_source(b, "smp_store_release(&gt_ptrbox_box, smp_load_acquire(&gt_ptrbox_box));");
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_says(b, "both are marked");
}

static void test_part_of_a_function(void **state)
{
	struct bench *b = box(state);

	bench_start_not_kept(b, b->reader);
	bench_expect_not(b, RULE);
}

/* ---- hand-written takers: the box is at (%rdi), a member of the object at offset 8 ---- */

struct hand {
	const char *name;
	const char *code;
	size_t len;
	uint32_t at;
	uint16_t kfree; /* Offset of the call of kfree(), or NO_CALL. */
	bool fits;
};

static void judge_by_hand(struct bench *b, unsigned side)
{
	const struct hand *row = b->row;

	bench_code(b, side, row->code, row->len, row->at);
	if (row->kfree != NO_CALL)
		bench_call(b, side, row->kfree, "kfree");
	if (row->fits)
		bench_expect(b, VERDICT_UNCLEAR, RULE);
	else
		bench_expect_not(b, RULE);
}

#define LOOK "\x48\x8b\x07\x48\x85\xc0"	     /* mov (%rdi),%rax; test %rax,%rax */
#define USE "\x48\x8b\x48\x08"		     /* mov 8(%rax),%rcx */
#define EMPTY "\x48\xc7\x07\x00\x00\x00\x00" /* movq $0,(%rdi) */
#define RET "\xc3"

static const struct hand takers[] = {
	{"taker: looks, uses, empties", CODE(LOOK "\x74\x0b" USE EMPTY RET), 0, NO_CALL, true},
	{"taker: empties, then uses", CODE(LOOK "\x74\x0b" EMPTY USE RET), 0, NO_CALL, true},
	{"taker: does not ask", CODE("\x48\x8b\x07" USE EMPTY RET), 0, NO_CALL, false},
	/* je to the next instruction */
	{"taker: uses whatever it found", CODE(LOOK "\x74\x00" USE EMPTY RET), 0, NO_CALL, false},
	/* mov %rcx,(%rdi) */
	{"taker: puts in something else", CODE(LOOK "\x74\x07" USE "\x48\x89\x0f" RET), 0, NO_CALL, false},
	/* jne for je */
	{"taker: uses what is not there", CODE(LOOK "\x75\x0b" USE EMPTY RET), 0, NO_CALL, false},
	{"taker: uses nothing", CODE(LOOK "\x74\x07" EMPTY RET), 0, NO_CALL, false},
	/* mov %rax,%rdi; call kfree */
	{"taker: frees what stays in the box", CODE(LOOK "\x74\x0c" USE "\x48\x89\xc7\xe8\x00\x01\x00\x00" RET), 0, 0xf, false},
};

static void test_taker_by_hand(void **state)
{
	struct bench *b = box(state);

	judge_by_hand(b, b->reader);
}

/* ---- hand-written givers: the box is at (%rdi), the object at (%rsi) ---- */

#define ASK "\x48\x83\x3f\x00\x75" /* cmpq $0,(%rdi); jne */
#define FILL "\x48\x89\x56\x08"	   /* mov %rdx,8(%rsi) */
#define GIVE "\x48\x89\x37"	   /* mov %rsi,(%rdi) */

static const struct hand givers[] = {
	{"giver: asks, fills, gives", CODE(ASK "\x07" FILL GIVE RET), 10, NO_CALL, true},
	{"giver: gives, then fills", CODE(ASK "\x07" GIVE FILL RET), 6, NO_CALL, false},
	{"giver: does not ask", CODE(FILL GIVE RET), 4, NO_CALL, false},
	/* je for jne: the giver overwrites an object that the taker has not taken */
	{"giver: gives where something is", CODE("\x48\x83\x3f\x00\x74\x07" FILL GIVE RET), 10, NO_CALL, false},
	/* cmp %rcx,(%rdi); jne */
	{"giver: asks for something else than NULL", CODE("\x48\x39\x0f\x75\x07" FILL GIVE RET), 9, NO_CALL, false},
	/* mov %rsi,%rdi; call */
	{"giver: lets another function go on with it", CODE(ASK "\x0f" FILL GIVE "\x48\x89\xf7\xe8\x00\x01\x00\x00" RET), 10,
	 NO_CALL, false},
	{"giver: fills nothing", CODE(ASK "\x03" GIVE RET), 6, NO_CALL, false},
	/* mov 8(%rsi),%rax */
	{"giver: looks at it once more", CODE(ASK "\x0b" FILL GIVE "\x48\x8b\x46\x08" RET), 10, NO_CALL, false},
	/* mov %rsi,%rdi; call kfree */
	{"giver: frees it", CODE(ASK "\x0f" FILL GIVE "\x48\x89\xf7\xe8\x00\x01\x00\x00" RET), 10, 0x10, false},
};

static void test_giver_by_hand(void **state)
{
	struct bench *b = box(state);

	judge_by_hand(b, b->writer);
}

/* ---- given for good ---- */

static void set_before(struct race *race, uint8_t value)
{
	for (unsigned i = 0; i < race->kept; i++)
		memset(race->instances[i].before, value, sizeof(race->instances[i].before));
}

/* The taker leaves the pointer in the box, so the giver need not check whether the box is empty. */
static struct bench *for_good(void **state)
{
	static const char taker[] = LOOK "\x74\x04" USE RET, giver[] = FILL GIVE RET;
	struct bench *b = box(state);

	bench_code(b, b->reader, taker, sizeof(taker) - 1, 0);
	bench_code(b, b->writer, giver, sizeof(giver) - 1, 4);
	bench_side(b, b->reader)->context.rcu_known = true;
	bench_side(b, b->reader)->context.rcu_nesting = 0;
	set_before(b->race, 0);
	return b;
}

static void test_for_good(void **state)
{
	struct bench *b = for_good(state);

	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "the pointer was NULL before, and neither frees the object");
}

/* The box held another object before. The pruner does not know whether a taker still uses that object. */
static void test_replaced(void **state)
{
	struct bench *b = for_good(state);

	set_before(b->race, 0xff);
	bench_expect_not(b, RULE);
}

/* mov %rcx,8(%rax) */
static void test_for_good_and_changed(void **state)
{
	static const char taker[] = LOOK "\x74\x04\x48\x89\x48\x08" RET;
	struct bench *b = for_good(state);

	bench_code(b, b->reader, taker, sizeof(taker) - 1, 0);
	bench_expect_not(b, RULE);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		ORDERED_TEST(test_taker_looks),
		ORDERED_TEST(test_giver_looks),
		ORDERED_TEST(test_given_too_early),
		ORDERED_TEST(test_marked_and_given_too_early),
		ORDERED_TEST(test_marks_make_it_certain),
		ORDERED_TEST(test_part_of_a_function),
		ORDERED_TEST(test_for_good),
		ORDERED_TEST(test_replaced),
		ORDERED_TEST(test_for_good_and_changed),
	};
	struct CMUnitTest all[ROWS(tests) + ROWS(takers) + ROWS(givers)];
	size_t n = ROWS(tests);

	memcpy(all, tests, sizeof(tests));
	for (size_t i = 0; i < ROWS(takers); i++)
		all[n++] = ORDERED_ROW(takers[i].name, test_taker_by_hand, &takers[i]);
	for (size_t i = 0; i < ROWS(givers); i++)
		all[n++] = ORDERED_ROW(givers[i].name, test_giver_by_hand, &givers[i]);
	return _cmocka_run_group_tests("handoff_pointer", all, n, NULL, NULL);
}
