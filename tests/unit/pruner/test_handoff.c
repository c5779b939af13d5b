// SPDX-License-Identifier: GPL-2.0-or-later
/* Flags that hand data over, rings of one producer and one consumer, and everything that is nearly one of the two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define FLAG "handed-over"
#define RING "ring-queue"

/* ---- as the compiler made the module's cases ---- */

static const struct recorded {
	const char *name, *reader, *writer, *rule;
} right[] =
	{
		{"the taker's look at the flag", "gt_mailbox_taker+0x5", "gt_mailbox_sender+0x20", FLAG},
		{"the sender's look at the flag", "gt_mailbox_sender+0x5", "gt_mailbox_taker+0x1f", FLAG},
		{"the consumer's look at the head", "gt_spsc_consumer+0x5", "gt_spsc_producer+0x2d", RING},
		{"the producer's look at the tail", "gt_spsc_producer+0x5", "gt_spsc_consumer+0x2a", RING},
},
  wrong[] = {
	  {"a flag that is stored before the value", "gt_flagfirst_taker+0x5", "gt_flagfirst_giver+0xf", FLAG},
	  {"that flag as it is given back", "gt_flagfirst_giver+0x5", "gt_flagfirst_taker+0x18", FLAG},
	  {"that value", "gt_flagfirst_taker+0x11", "gt_flagfirst_giver+0x19", FLAG},
	  {"the head of two producers", "gt_twoheads_first+0x5", "gt_twoheads_second+0x1e", RING},
	  {"both heads' stores", "gt_twoheads_first+0x1b", "gt_twoheads_second+0x1e", RING},
	  {"the slot of two producers", "gt_twoheads_first+0xc", "gt_twoheads_second+0xf", RING},
};

static struct bench *recorded(void **state)
{
	const struct recorded *row = ((struct bench *)*state)->row;

	return bench_of_sites(state, row->reader, row->writer);
}

static void test_right(void **state)
{
	const struct recorded *row = ((struct bench *)*state)->row;
	struct bench *b = recorded(state);

	bench_unnamed(b->race);
	bench_expect(b, VERDICT_UNCLEAR, row->rule);
	bench_expect_among(b, VERDICT_UNCLEAR, row->rule);
}

static void test_wrong(void **state)
{
	struct bench *b = recorded(state);
	struct related *related = related_new(b->load.races, b->load.count);

	assert_non_null(related);
	prune_race_among(b->rules, related, b->race, &b->verdict);
	related_free(related);
	assert_int_equal(b->verdict.class, VERDICT_HARMFUL);
}

static struct bench *mailbox(void **state)
{
	struct bench *b = bench_of_sites(state, "gt_mailbox_taker+0x5", "gt_mailbox_sender+0x20");

	bench_unnamed(b->race);
	return b;
}

static struct bench *ring(void **state)
{
	struct bench *b = bench_of_sites(state, "gt_spsc_consumer+0x5", "gt_spsc_producer+0x2d");

	bench_unnamed(b->race);
	return b;
}

static void test_evidence_of_a_flag(void **state)
{
	struct bench *b = mailbox(state);

	bench_expect(b, VERDICT_UNCLEAR, FLAG);
	bench_says(b, "gt_mailbox_taker accesses 0xffff");
	bench_says(b, "(+0x11) only after a branch on gt_mailbox");
	bench_says(b, "gt_mailbox_sender stores to gt_mailbox only after its accesses to the same address (+0x19)");
}

static void test_evidence_of_a_ring(void **state)
{
	struct bench *b = ring(state);

	bench_expect(b, VERDICT_UNCLEAR, RING);
	bench_says(b, "only gt_spsc_producer was seen to store the index at 0xffff");
	bench_says(b, "only gt_spsc_consumer the index at 0xffff");
	bench_says(b, "each stores its index after its access to the slot that the index names (+0x1e, +0x1b)");
}

static void test_parts_of_functions(void **state)
{
	struct bench *b = mailbox(state);

	bench_start_not_kept(b, b->reader);
	bench_expect_not(b, FLAG);
	b = ring(state);
	bench_start_not_kept(b, b->writer);
	bench_expect_not(b, RING);
}

/* ---- other races of the record ---- */

/* A race of the file that the test is not about, made one of a store by `function` to the place where the judged race is. */
static struct race *another_store(struct bench *b, const char *function)
{
	struct race *other = b->load.races[0];
	struct race_side *side = &other->first.sides[0];

	assert_ptr_not_equal(other, b->race);
	snprintf(side->symbol.name, sizeof(side->symbol.name), "%s", function);
	side->gva = bench_side(b, b->writer)->gva;
	other->rw[0] = INSN_WRITE;
	other->rw[1] = INSN_READ;
	return other;
}

static void test_second_producer(void **state)
{
	struct bench *b = ring(state);

	another_store(b, "gt_spsc_producer");
	bench_expect_among(b, VERDICT_UNCLEAR, RING);
	another_store(b, "gt_spsc_second");
	bench_expect_among(b, VERDICT_HARMFUL, "value-used");
}

/* The producer's function ran on two CPUs at once. */
static void test_producer_against_itself(void **state)
{
	struct bench *b = ring(state);

	another_store(b, "gt_spsc_producer")->rw[1] = INSN_WRITE;
	bench_expect_among(b, VERDICT_HARMFUL, "value-used");
}

static void test_second_sender(void **state)
{
	struct bench *b = mailbox(state);

	another_store(b, "gt_mailbox_second")->rw[1] = INSN_WRITE;
	bench_expect_among(b, VERDICT_HARMFUL, "value-used");
}

/* A race of the instruction at `offset` of the side's function, with anybody. */
static void race_at(struct bench *b, unsigned which, uint64_t offset)
{
	struct race_side *side = &b->load.races[0]->first.sides[0];
	const struct race_side *judged = bench_side(b, which);

	side->symbol = judged->symbol;
	side->symbol.addr += 0x100000; /* as in another boot */
	side->pc = side->symbol.addr + offset;
}

static void test_slot_that_was_seen_racing(void **state)
{
	struct bench *b = ring(state);

	race_at(b, b->reader, 0x5);
	bench_expect_among(b, VERDICT_UNCLEAR, RING);
	race_at(b, b->reader, 0x1b);
	bench_expect_among(b, VERDICT_HARMFUL, "value-used");
}

static void test_letter_that_was_seen_racing(void **state)
{
	struct bench *b = mailbox(state);

	race_at(b, b->writer, 0x5);
	bench_expect_among(b, VERDICT_UNCLEAR, FLAG);
	race_at(b, b->writer, 0xf);
	bench_expect_among(b, VERDICT_HARMFUL, "not-handed-over");
	bench_says(b, "gt_mailbox_taker accesses 0xffff");
}

/* The two functions raced on something else of theirs, so they do not keep to their turns. */
static void test_functions_that_raced_elsewhere(void **state)
{
	struct bench *b = mailbox(state);

	race_at(b, b->reader, 0);
	bench_expect_among(b, VERDICT_UNCLEAR, FLAG);
	b->load.races[0]->first.sides[1].symbol = bench_side(b, b->writer)->symbol;
	bench_expect_among(b, VERDICT_HARMFUL, "value-used");
}

/* ---- by hand ---- */

struct hand {
	const char *name;
	const char *code;
	size_t len;
	uint32_t at;
	bool fits;
};

static void judge_by_hand(struct bench *b, unsigned side, const char *rule)
{
	const struct hand *row = b->row;

	bench_code(b, side, row->code, row->len, row->at);
	if (row->fits)
		bench_expect(b, VERDICT_UNCLEAR, rule);
	else
		bench_expect_not(b, rule);
}

/* Takers: the flag at (%rdi), the letter at 8(%rdi) and 0x10(%rdi). */
#define LOOK "\x8b\x17\x85\xd2"		     /* mov (%rdi),%edx; test %edx,%edx */
#define TAKE "\x48\x8b\x47\x08"		     /* mov 8(%rdi),%rax */
#define GIVE_BACK "\xc7\x07\x00\x00\x00\x00" /* movl $0,(%rdi) */
#define RET "\xc3"

static const struct hand takers[] = {
	{"taker: looks, takes, gives back", CODE(LOOK "\x74\x0a" TAKE GIVE_BACK RET), 0, true},
	/* jne 1f; pause; LOOK; je 2f; 1: TAKE; GIVE_BACK; 2: ret */
	{"taker: looks twice", CODE(LOOK "\x75\x08\xf3\x90" LOOK "\x74\x0a" TAKE GIVE_BACK RET), 0, true},
	/* The second time it takes whatever the flag says. */
	{"taker: looks twice in vain", CODE(LOOK "\x75\x08\xf3\x90" LOOK "\x74\x00" TAKE GIVE_BACK RET), 0, false},
	{"taker: takes first", CODE(TAKE LOOK "\x74\x06" GIVE_BACK RET), 4, false},
	/* je to the next instruction */
	{"taker: takes whatever the flag says", CODE(LOOK "\x74\x00" TAKE GIVE_BACK RET), 0, false},
	{"taker: gives back first", CODE(LOOK "\x74\x0a" GIVE_BACK TAKE RET), 0, false},
	{"taker: takes again when it gave back", CODE(LOOK "\x74\x0e" TAKE GIVE_BACK TAKE RET), 0, false},
	/* mov 0x18(%rdi),%rax */
	{"taker: takes something else", CODE(LOOK "\x74\x0a\x48\x8b\x47\x18" GIVE_BACK RET), 0, false},
};

static void test_taker_by_hand(void **state)
{
	struct bench *b = mailbox(state);

	judge_by_hand(b, b->reader, FLAG);
}

/* Senders: the same places. */
#define FREE "\x8b\x07\x85\xc0"		/* mov (%rdi),%eax; test %eax,%eax */
#define WRITE "\x48\x89\x77\x08"	/* mov %rsi,8(%rdi) */
#define SEND "\xc7\x07\x01\x00\x00\x00" /* movl $1,(%rdi) */

static const struct hand senders[] = {
	{"sender: waits, writes, sends", CODE(FREE "\x75\x0a" WRITE SEND RET), 10, true},
	{"sender: does not wait", CODE(WRITE SEND RET), 4, false},
	{"sender: sends first", CODE(FREE "\x75\x0a" SEND WRITE RET), 6, false},
	{"sender: writes once more", CODE(FREE "\x75\x0e" WRITE SEND WRITE RET), 10, false},
};

static void test_sender_by_hand(void **state)
{
	struct bench *b = mailbox(state);

	judge_by_hand(b, b->writer, FLAG);
}

static void set_values(struct race *race, uint8_t before, uint8_t after)
{
	for (unsigned i = 0; i < race->kept; i++) {
		memset(race->instances[i].before, 0, sizeof(race->instances[i].before));
		memset(race->instances[i].after, 0, sizeof(race->instances[i].after));
		race->instances[i].before[0] = before;
		race->instances[i].after[0] = after;
	}
}

/* Who publishes something for good need not wait. The flag must never have been stored a second time. */
static void test_flag_that_is_set_once(void **state)
{
	static const char looker[] = LOOK "\x74\x04" TAKE RET, setter[] = WRITE SEND RET;
	struct bench *b = mailbox(state);

	bench_code(b, b->reader, looker, sizeof(looker) - 1, 0);
	bench_code(b, b->writer, setter, sizeof(setter) - 1, 4);
	set_values(b->race, 0, 1);
	bench_expect(b, VERDICT_UNCLEAR, FLAG);
	b->race->instances[b->race->kept - 1].before[0] = 1;
	bench_expect_not(b, FLAG);
	set_values(b->race, 1, 1);
	bench_expect_not(b, FLAG);
}

/* Consumers: the head at (%rdi), the tail at 0x40(%rdi), the slots at (%rsi). */
#define HEAD "\x48\x8b\x07"		  /* mov (%rdi),%rax */
#define TAIL "\x48\x8b\x57\x40"		  /* mov 0x40(%rdi),%rdx */
#define COMPARE "\x48\x39\xd0"		  /* cmp %rdx,%rax */
#define SLOT "\x48\x8b\x0c\xd6"		  /* mov (%rsi,%rdx,8),%rcx */
#define ON "\x48\xff\xc2\x48\x89\x57\x40" /* inc %rdx; mov %rdx,0x40(%rdi) */

static const struct hand consumers[] = {
	{"consumer: compares, takes, goes on", CODE(HEAD TAIL COMPARE "\x74\x0b" SLOT ON RET), 0, true},
	/* addq $1,0x40(%rdi) */
	{"consumer: adds in memory", CODE(HEAD TAIL COMPARE "\x74\x09" SLOT "\x48\x83\x47\x40\x01" RET), 0, true},
	/* jmp to the beginning: until the ring is empty */
	{"consumer: takes all", CODE(HEAD TAIL COMPARE "\x74\x0d" SLOT ON "\xeb\xe7" RET), 0, true},
	/* test %rax,%rax */
	{"consumer: does not compare", CODE(HEAD TAIL "\x48\x85\xc0\x74\x0b" SLOT ON RET), 0, false},
	/* je to the next instruction */
	{"consumer: takes whatever it found", CODE(HEAD TAIL COMPARE "\x74\x00" SLOT ON RET), 0, false},
	/* lea 1(%rdx),%rcx; mov %rcx,0x40(%rdi); mov (%rsi,%rdx,8),%rax */
	{"consumer: goes on before it takes",
	 CODE(HEAD TAIL COMPARE "\x74\x0c\x48\x8d\x4a\x01\x48\x89\x4f\x40\x48\x8b\x04\xd6" RET), 0, false},
	/* mov %rax,(%rdi) */
	{"consumer: stores the head too", CODE(HEAD TAIL COMPARE "\x74\x0e" SLOT ON "\x48\x89\x07" RET), 0, false},
	{"consumer: takes no slot", CODE(HEAD TAIL COMPARE "\x74\x07" ON RET), 0, false},
	/* movq $0,0x40(%rdi) */
	{"consumer: sets the tail", CODE(HEAD TAIL COMPARE "\x74\x0c" SLOT "\x48\xc7\x47\x40\x00\x00\x00\x00" RET), 0, false},
	/* mov 0x48(%rdi),%rdx and mov %rdx,0x48(%rdi): the producer looks at another word */
	{"consumer: has another tail", CODE(HEAD "\x48\x8b\x57\x48" COMPARE "\x74\x0b" SLOT "\x48\xff\xc2\x48\x89\x57\x48" RET),
	 0, false},
};

static void test_consumer_by_hand(void **state)
{
	struct bench *b = ring(state);

	judge_by_hand(b, b->reader, RING);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		ORDERED_TEST(test_evidence_of_a_flag),	      ORDERED_TEST(test_evidence_of_a_ring),
		ORDERED_TEST(test_parts_of_functions),	      ORDERED_TEST(test_second_producer),
		ORDERED_TEST(test_producer_against_itself),   ORDERED_TEST(test_second_sender),
		ORDERED_TEST(test_slot_that_was_seen_racing), ORDERED_TEST(test_letter_that_was_seen_racing),
		ORDERED_TEST(test_flag_that_is_set_once),     ORDERED_TEST(test_functions_that_raced_elsewhere),
	};
	struct CMUnitTest all[ROWS(tests) + ROWS(right) + ROWS(wrong) + ROWS(takers) + ROWS(senders) + ROWS(consumers)];
	size_t n = ROWS(tests);

	memcpy(all, tests, sizeof(tests));
	for (size_t i = 0; i < ROWS(right); i++)
		all[n++] = ORDERED_ROW(right[i].name, test_right, &right[i]);
	for (size_t i = 0; i < ROWS(wrong); i++)
		all[n++] = ORDERED_ROW(wrong[i].name, test_wrong, &wrong[i]);
	for (size_t i = 0; i < ROWS(takers); i++)
		all[n++] = ORDERED_ROW(takers[i].name, test_taker_by_hand, &takers[i]);
	for (size_t i = 0; i < ROWS(senders); i++)
		all[n++] = ORDERED_ROW(senders[i].name, test_sender_by_hand, &senders[i]);
	for (size_t i = 0; i < ROWS(consumers); i++)
		all[n++] = ORDERED_ROW(consumers[i].name, test_consumer_by_hand, &consumers[i]);
	return _cmocka_run_group_tests("handoff", all, n, NULL, NULL);
}
