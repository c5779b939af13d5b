// SPDX-License-Identifier: GPL-2.0-or-later
/* Sequence counts: data that a reader loads between begin and retry, the count itself, and code that resembles a section. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "sequence-count"

/* ---- the module's cases, as compiled ---- */

static const struct recorded {
	const char *name, *reader, *writer;
} right[] =
	{
		{"seqlock_t, first field", "gt_seqlock_reader+0x14", "gt_seqlock_writer+0x1c"},
		{"seqlock_t, second field", "gt_seqlock_reader+0x1b", "gt_seqlock_writer+0x26"},
		{"the count as the reader begins", "gt_seqlock_reader+0x9", "gt_seqlock_writer+0x15"},
		{"the count as the reader asks", "gt_seqlock_reader+0x22", "gt_seqlock_writer+0x15"},
		{"seqcount_mutex_t by a pointer, first field", "gt_seqmutex_reader+0x11", "gt_seqmutex_writer+0x1d"},
		{"seqcount_mutex_t by a pointer, second field", "gt_seqmutex_reader+0x15", "gt_seqmutex_writer+0x27"},
		{"the count by a pointer", "gt_seqmutex_reader+0x9", "gt_seqmutex_writer+0x19"},
		{"a latch's first copy", "gt_seqlatch_reader+0x10", "gt_seqlatch_writer+0xc"},
		{"a latch's second copy", "gt_seqlatch_reader+0x10", "gt_seqlatch_writer+0x1a"},
		{"a latch's count as the reader begins", "gt_seqlatch_reader+0x5", "gt_seqlatch_writer+0x5"},
},
  wrong[] = {
	  {"no question", "gt_seqnoretry_reader+0x13", "gt_seqnoretry_writer+0x26"},
	  {"another count than the writer's", "gt_seqother_reader+0x14", "gt_seqother_writer+0x1c"},
	  {"an answer that is ignored", "gt_seqignored_reader+0x14", "gt_seqignored_writer+0x1c"},
	  {"a store behind the section", "gt_seqearly_reader+0x14", "gt_seqearly_writer+0x2f"},
	  {"an index before the question", "gt_seqindex_reader+0x13", "gt_seqindex_writer+0x1f"},
};

static struct bench *recorded(void **state)
{
	const struct recorded *row = ((struct bench *)*state)->row;

	return bench_of_sites(state, row->reader, row->writer);
}

/* With debug files, inlined functions mark the count, so this test removes them. */
static void test_right(void **state)
{
	struct bench *b = recorded(state);

	bench_unnamed(b->race);
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_expect_among(b, VERDICT_SYNCHRONISATION, RULE);
}

static void test_wrong(void **state)
{
	bench_expect_not(recorded(state), RULE);
}

static struct bench *seqlock(void **state)
{
	return bench_of_sites(state, "gt_seqlock_reader+0x14", "gt_seqlock_writer+0x1c");
}

static struct bench *seqmutex(void **state)
{
	return bench_of_sites(state, "gt_seqmutex_reader+0x11", "gt_seqmutex_writer+0x1d");
}

static void test_evidence(void **state)
{
	struct bench *b = seqlock(state);

	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_says(b, "gt_seqlock_reader loads the sequence count at 0xffff");
	bench_says(b, "(+0x9), goes on when it is even, loads it again (+0x22) and retries if it changed");
	bench_says(b, "gt_seqlock_writer adds 1 to it before its store (+0x15) and after it (+0x2d)");
}

/* ---- doubts about a section ---- */

static void test_part_of_the_reader(void **state)
{
	struct bench *b = seqlock(state);

	bench_start_not_kept(b, b->reader);
	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "a part of the code was not kept");
}

static void test_part_of_the_writer(void **state)
{
	struct bench *b = seqlock(state);

	bench_start_not_kept(b, b->writer);
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

static void test_reader_in_an_interrupt(void **state)
{
	struct bench *b = seqlock(state);

	bench_side(b, b->reader)->context.kind = GUEST_HARDIRQ;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "waits forever");
	bench_side(b, b->writer)->context.irqs_off = true;
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
}

/* An NMI interrupts the writer even if interrupts are off. */
static void test_reader_in_an_nmi(void **state)
{
	struct bench *b = seqlock(state);

	bench_side(b, b->reader)->context.kind = GUEST_NMI;
	bench_side(b, b->writer)->context.irqs_off = true;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

static void test_one_reader_in_an_interrupt(void **state)
{
	struct bench *b = seqlock(state);

	b->race->instances[b->race->kept - 1].sides[b->reader].context.kind = GUEST_SOFTIRQ;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

static void set_interrupts_off(struct bench *b, bool off)
{
	for (unsigned i = 0; i < b->race->kept; i++)
		b->race->instances[i].sides[b->writer].context.irqs_off = off;
}

static void test_writer_that_interrupts_itself(void **state)
{
	struct bench *b = seqlock(state);

	assert_in_range(b->race->kept, 2, UINT32_MAX);
	b->race->instances[0].sides[b->writer].context.kind = GUEST_HARDIRQ;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "the writer also runs in interrupts");
	set_interrupts_off(b, true);
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
}

/* The reader of a latch never waits for the writer. */
static void test_latch_in_an_interrupt(void **state)
{
	struct bench *b = bench_of_sites(state, "gt_seqlatch_reader+0x10", "gt_seqlatch_writer+0xc");

	bench_side(b, b->reader)->context.kind = GUEST_NMI;
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
}

/* By the parity in the reader's register, the writer changes the copy that new readers use. */
static void test_latch_that_changes_the_copy_in_use(void **state)
{
	struct bench *b = bench_of_sites(state, "gt_seqlatch_reader+0x10", "gt_seqlatch_writer+0xc");

	bench_side(b, b->reader)->regs.gpr[X86_RAX] ^= 1;
	bench_expect_not(b, RULE);
}

/* Two writers were seen to add to the count at once, so the count may be even during an update. */
static void test_two_writers_of_the_count(void **state)
{
	struct bench *b = seqlock(state);

	for (size_t i = 0; i < b->load.count; i++) {
		if (strcmp(b->load.races[i]->id, "c8edf8b2368d") == 0)
			b->load.races[i]->rw[0] = b->load.races[i]->rw[1] = INSN_READ | INSN_WRITE;
	}
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_expect_among(b, VERDICT_HARMFUL, "lock-on-one-side");
}

/* Two writers were seen to store to the datum at once, so they do not exclude each other. */
static void test_two_writers_of_the_datum(void **state)
{
	struct bench *b = seqlock(state);
	struct race *other = b->load.races[0];

	assert_ptr_not_equal(other, b->race);
	other->first.sides[0].gva = bench_side(b, b->writer)->gva;
	other->rw[0] = other->rw[1] = INSN_WRITE;
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_expect_among(b, VERDICT_HARMFUL, "lock-on-one-side");
}

/* In another boot, a second writer raced with the writer's function at an instruction of this section. */
static void test_two_writers_in_another_run(void **state)
{
	struct bench *b = seqlock(state);
	struct race *other = b->load.races[0];
	struct race_side *side = &other->first.sides[0];

	assert_ptr_not_equal(other, b->race);
	side->symbol = bench_side(b, b->writer)->symbol;
	side->symbol.addr += 0x100000;
	side->pc = side->symbol.addr + 0x15;
	other->rw[0] = INSN_READ | INSN_WRITE;
	other->rw[1] = INSN_READ;
	bench_expect_among(b, VERDICT_SYNCHRONISATION, RULE);
	other->rw[1] = INSN_WRITE;
	bench_expect_among(b, VERDICT_HARMFUL, "lock-on-one-side");
}

/* ---- hand-written readers: the count is at 0x20(%rdi), the datum at 0x28(%rdi) ---- */

struct hand {
	const char *name;
	const char *code;
	size_t len;
	uint32_t at;
	int class; /* enum verdict_class, or NO_SECTION */
};
#define NO_SECTION (-1)

#define BEGIN "\x8b\x57\x20\xf6\xc2\x01\x75\xf8" /* 1: mov 0x20(%rdi),%edx; test $1,%dl; jne 1b */
#define LOAD "\x48\x8b\x47\x28"			 /* mov 0x28(%rdi),%rax */
#define ASK "\x8b\x4f\x20\x39\xd1\x75"		 /* mov 0x20(%rdi),%ecx; cmp %edx,%ecx; jne */
#define RET "\xc3"

static const struct hand readers[] = {
	{"reader: a section", CODE(BEGIN LOAD ASK "\xed" RET), 8, VERDICT_SYNCHRONISATION},
	{"reader: compares with memory", CODE(BEGIN LOAD "\x3b\x57\x20\x75\xef" RET), 8, VERDICT_SYNCHRONISATION},
	/* and $~1,%edx, as raw_seqcount_begin() does */
	{"reader: makes the count even", CODE("\x8b\x57\x20\x83\xe2\xfe" LOAD ASK "\xef" RET), 6, VERDICT_SYNCHRONISATION},
	/* je 1f; jmp BEGIN; 1: ret */
	{"reader: jumps out", CODE(BEGIN LOAD "\x8b\x4f\x20\x39\xd1\x74\x02\xeb\xeb" RET), 8, VERDICT_SYNCHRONISATION},
	/* During the call RBP has the count, RBX the object and R12 the datum. */
	{"reader: calls meanwhile",
	 CODE("\x8b\x6b\x20\x40\xf6\xc5\x01\x75\xf7\x4c\x8b\x63\x28\xe8\x00\x01\x00\x00\x8b\x4b\x20\x39\xe9\x75\xe7" RET), 9,
	 VERDICT_SYNCHRONISATION},
	/* mov %rax,0x8(%rsp) */
	{"reader: keeps it on the stack", CODE(BEGIN LOAD "\x48\x89\x44\x24\x08" ASK "\xe8" RET), 8, VERDICT_SYNCHRONISATION},
	/* mov %rsp,%rsi; mov %rax,(%rsi) */
	{"reader: keeps it on the stack by a pointer", CODE(BEGIN LOAD "\x48\x89\xe6\x48\x89\x06" ASK "\xe7" RET), 8,
	 VERDICT_SYNCHRONISATION},
	/* mov %rax,(%rsi) */
	{"reader: gives it to its caller first", CODE(BEGIN LOAD "\x48\x89\x06" ASK "\xea" RET), 8, VERDICT_UNCLEAR},

	{"reader: does not care whether it is odd", CODE("\x8b\x57\x20" LOAD ASK "\xf2" RET), 3, NO_SECTION},
	/* jne 1f; 1: ret */
	{"reader: goes on at once", CODE(BEGIN LOAD ASK "\x01" RET RET), 8, NO_SECTION},
	{"reader: goes back behind its load", CODE(BEGIN LOAD ASK "\xf9" RET), 8, NO_SECTION},
	{"reader: je for jne", CODE(BEGIN LOAD "\x8b\x4f\x20\x39\xd1\x74\xed" RET), 8, NO_SECTION},
	{"reader: loads before it begins", CODE(LOAD BEGIN ASK "\xf1" RET), 0, NO_SECTION},
	{"reader: loads when it has asked", CODE(BEGIN ASK "\xf1" LOAD RET), 0xf, NO_SECTION},
	/* mov 0x20(%rdi),%ecx before the datum's load */
	{"reader: asks too early", CODE(BEGIN "\x8b\x4f\x20" LOAD "\x39\xd1\x75\xed" RET), 0xb, NO_SECTION},
	/* mov 0x24(%rdi),%ecx: another word */
	{"reader: asks another word", CODE(BEGIN LOAD "\x8b\x4f\x24\x39\xd1\x75\xed" RET), 8, NO_SECTION},
	/* mov %rax,0x1000(%rip) */
	{"reader: stores first", CODE(BEGIN LOAD "\x48\x89\x05\x00\x10\x00\x00" ASK "\xe6" RET), 8, NO_SECTION},
	/* mov (%rax),%rax */
	{"reader: goes through it first", CODE(BEGIN LOAD "\x48\x8b\x00" ASK "\xea" RET), 8, NO_SECTION},
	/* RBP has the count, RCX the datum: xor %edx,%edx; mov $1,%eax; div %rcx */
	{"reader: divides first",
	 CODE("\x8b\x6b\x20\x40\xf6\xc5\x01\x75\xf7\x48\x8b\x4b\x28\x31\xd2\xb8\x01\x00\x00\x00\x48\xf7\xf1\x8b\x73"
	      "\x20\x39\xee\x75\xe2" RET),
	 9, NO_SECTION},
	/* R12 has the datum: test %r12,%r12; je 1f; call; 1: */
	{"reader: decides a call first",
	 CODE("\x8b\x6b\x20\x40\xf6\xc5\x01\x75\xf7\x4c\x8b\x63\x28\x4d\x85\xe4\x74\x05\xe8\x00\x01\x00\x00\x8b\x4b"
	      "\x20\x39\xe9\x75\xe2" RET),
	 9, NO_SECTION},
	/* test %rax,%rax; je 1f; movl $1,0x1000(%rip); 1: */
	{"reader: decides a store first",
	 CODE(BEGIN LOAD "\x48\x85\xc0\x74\x0a\xc7\x05\x00\x10\x00\x00\x01\x00\x00\x00" ASK "\xde" RET), 8, NO_SECTION},
	/* test %rax,%rax; je 1f; ret; 1: */
	{"reader: decides not to ask", CODE(BEGIN LOAD "\x48\x85\xc0\x74\x01\xc3" ASK "\xe7" RET), 8, NO_SECTION},
	/* RDI has the datum at the call. */
	{"reader: tells another function first",
	 CODE("\x8b\x6b\x20\x40\xf6\xc5\x01\x75\xf7\x48\x8b\x7b\x28\xe8\x00\x01\x00\x00\x8b\x4b\x20\x39\xe9\x75\xe7" RET), 9,
	 NO_SECTION},
	/* xor %eax,%eax; BEGIN; add 0x28(%rdi),%rax: the sum keeps the values of rounds that must be retried */
	{"reader: adds up over the rounds", CODE("\x31\xc0" BEGIN "\x48\x03\x47\x28\x8b\x4f\x20\x39\xd1\x75\xed" RET), 10,
	 NO_SECTION},
	/* mov 0x30(%rdi),%rsi; LOAD; test %rax,%rax; je 1f; mov (%rsi),%rcx; 1: */
	{"reader: decides to go through another pointer first",
	 CODE(BEGIN "\x48\x8b\x77\x30" LOAD "\x48\x85\xc0\x74\x03\x48\x8b\x0e" ASK "\xe1" RET), 12, NO_SECTION},
	/* LOAD; xor %esi,%esi; 1: cmp %rax,%rsi; jae 2f; mov 0x30(%rdi,%rsi,8),%r8; inc %rsi; jmp 1b; 2: */
	{"reader: goes on as often as it says",
	 CODE(BEGIN LOAD "\x31\xf6\x48\x39\xc6\x73\x0a\x4c\x8b\x44\xf7\x30\x48\xff\xc6\xeb\xf1" ASK "\xdc" RET), 8, NO_SECTION},
	/* test %rax,%rax; je 1f; mov 0x30(%rdi),%rcx; 1: */
	{"reader: decides which field it reads", CODE(BEGIN LOAD "\x48\x85\xc0\x74\x04\x48\x8b\x4f\x30" ASK "\xe4" RET), 8,
	 VERDICT_SYNCHRONISATION},
	/* mov 0x20(%rdi),%edx, a second load of the count, after the test whether the first is even */
	{"reader: begins with another look than the even one", CODE(BEGIN "\x8b\x57\x20" LOAD ASK "\xea" RET), 11, NO_SECTION},
	/* mov $10,%esi; the end: je 1f; dec %esi; jne to BEGIN; 1: ret */
	{"reader: gives up after some rounds",
	 CODE("\xbe\x0a\x00\x00\x00" BEGIN LOAD "\x8b\x4f\x20\x39\xd1\x74\x04\xff\xce\x75\xe9" RET), 13, NO_SECTION},
	/* addl $2,0x20(%rdi) */
	{"reader: changes the count", CODE(BEGIN LOAD "\x83\x47\x20\x02" ASK "\xe9" RET), 8, NO_SECTION},
};

static void judge_by_hand(struct bench *b, unsigned side)
{
	const struct hand *row = b->row;

	bench_code(b, side, row->code, row->len, row->at);
	if (row->class != NO_SECTION) {
		bench_expect(b, (enum verdict_class)row->class, RULE);
		return;
	}
	/* Some of these loops resemble loops that wait, whose verdict is unclear too. */
	prune_race(b->rules, b->race, &b->verdict);
	assert_string_not_equal(rule_name(b->verdict.rule), RULE);
	assert_in_range(b->verdict.class, VERDICT_HARMFUL, VERDICT_UNCLEAR);
}

static void test_reader_by_hand(void **state)
{
	struct bench *b = seqmutex(state);

	judge_by_hand(b, b->reader);
}

static void test_reader_that_does_not_wait(void **state)
{
	static const char reader[] = "\x8b\x57\x20\x83\xe2\xfe" LOAD ASK "\xef" RET;
	struct bench *b = seqmutex(state);

	bench_code(b, b->reader, reader, sizeof(reader) - 1, 6);
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_says(b, "clears its bit 0, loads it again");
}

/* ---- hand-written writers: the count is at 0x20(%rbx), the datum at 0x28(%rbx) ---- */

#define ADD "\x83\x43\x20\x01"	 /* addl $1,0x20(%rbx) */
#define STORE "\x48\x89\x6b\x28" /* mov %rbp,0x28(%rbx) */

static const struct hand writers[] = {
	{"writer: a section", CODE(ADD STORE ADD RET), 4, VERDICT_SYNCHRONISATION},
	/* mov 0x20(%rbx),%eax; add $1,%eax; mov %eax,0x20(%rbx) */
	{"writer: adds in a register",
	 CODE("\x8b\x43\x20\x83\xc0\x01\x89\x43\x20" STORE "\x8b\x43\x20\xff\xc0\x89\x43\x20" RET), 9, VERDICT_SYNCHRONISATION},
	/* mov 0x20(%rbx),%eax; lea 1(%rax),%ecx; mov %ecx,0x20(%rbx) */
	{"writer: adds by lea", CODE("\x8b\x43\x20\x8d\x48\x01\x89\x4b\x20" STORE ADD RET), 9, VERDICT_SYNCHRONISATION},
	{"writer: two sections", CODE(ADD ADD ADD STORE ADD RET), 12, VERDICT_SYNCHRONISATION},

	/* lea 1(%rax),%ecx; mov %ecx,0x20(%rbx) again, from the same load */
	{"writer: stores one sum twice", CODE("\x8b\x43\x20\x8d\x48\x01\x89\x4b\x20" STORE "\x8d\x48\x01\x89\x4b\x20" RET), 9,
	 NO_SECTION},
	{"writer: adds before only", CODE(ADD STORE RET), 4, NO_SECTION},
	{"writer: adds behind only", CODE(STORE ADD RET), 0, NO_SECTION},
	{"writer: adds nothing", CODE(STORE RET), 0, NO_SECTION},
	{"writer: adds twice before", CODE(ADD ADD STORE RET), 8, NO_SECTION},
	{"writer: adds 2", CODE("\x83\x43\x20\x02" STORE "\x83\x43\x20\x02" RET), 4, NO_SECTION},
	/* addl $1,0x24(%rbx) */
	{"writer: adds to another word", CODE("\x83\x43\x24\x01" STORE "\x83\x43\x24\x01" RET), 4, NO_SECTION},
	/* movl $1,0x20(%rbx) */
	{"writer: sets the count", CODE("\xc7\x43\x20\x01\x00\x00\x00" STORE ADD RET), 7, NO_SECTION},
	/* test %esi,%esi; jne 1f; ADD; 1: */
	{"writer: adds on one way only", CODE("\x85\xf6\x75\x04" ADD STORE ADD RET), 8, NO_SECTION},
	/* test %esi,%esi; jne 1f; ADD; 1: ret */
	{"writer: leaves the count odd on one way", CODE(ADD STORE "\x85\xf6\x75\x04" ADD RET), 4, NO_SECTION},
};

static void test_writer_by_hand(void **state)
{
	struct bench *b = seqmutex(state);

	judge_by_hand(b, b->writer);
}

/* Preemption is on in the writer. A caller that had taken a spinlock would have turned preemption off. */
static void test_writer_without_a_lock(void **state)
{
	static const char writer[] = ADD STORE ADD RET;
	struct bench *b = seqmutex(state);

	bench_code(b, b->writer, writer, sizeof(writer) - 1, 4);
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_side(b, b->writer)->context.preempt_off = false;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "the writer can be preempted and takes no lock");
}

int main(void)
{
	struct CMUnitTest tests[ROWS(right) + ROWS(wrong) + ROWS(readers) + ROWS(writers) + 14] = {
		ORDERED_TEST(test_evidence),
		ORDERED_TEST(test_part_of_the_reader),
		ORDERED_TEST(test_part_of_the_writer),
		ORDERED_TEST(test_reader_in_an_interrupt),
		ORDERED_TEST(test_latch_in_an_interrupt),
		ORDERED_TEST(test_latch_that_changes_the_copy_in_use),
		ORDERED_TEST(test_two_writers_of_the_count),
		ORDERED_TEST(test_reader_in_an_nmi),
		ORDERED_TEST(test_one_reader_in_an_interrupt),
		ORDERED_TEST(test_writer_without_a_lock),
		ORDERED_TEST(test_two_writers_of_the_datum),
		ORDERED_TEST(test_reader_that_does_not_wait),
		ORDERED_TEST(test_two_writers_in_another_run),
		ORDERED_TEST(test_writer_that_interrupts_itself),
	};
	size_t n = 14;

	for (size_t i = 0; i < ROWS(right); i++)
		tests[n++] = ORDERED_ROW(right[i].name, test_right, &right[i]);
	for (size_t i = 0; i < ROWS(wrong); i++)
		tests[n++] = ORDERED_ROW(wrong[i].name, test_wrong, &wrong[i]);
	for (size_t i = 0; i < ROWS(readers); i++)
		tests[n++] = ORDERED_ROW(readers[i].name, test_reader_by_hand, &readers[i]);
	for (size_t i = 0; i < ROWS(writers); i++)
		tests[n++] = ORDERED_ROW(writers[i].name, test_writer_by_hand, &writers[i]);
	return _cmocka_run_group_tests("sequence counts", tests, n, NULL, NULL);
}
