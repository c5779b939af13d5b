// SPDX-License-Identifier: GPL-2.0-or-later
/* Two critical sections in place of one step: AVIO's interleavings, and what tells right code apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/race/protection_table.h"
#include "pruner/locks/protect.h"
#include "symbols/insn/insn.h"

#define UPDATE (INSN_READ | INSN_WRITE)
#define QUEUE UINT64_C(0xff11000004000000)
#define TEXT UINT64_C(0xffffffffc0001000)
/* The calls that take the lock: three of the function, one of the other function. */
#define FIRST (TEXT + 0x10)
#define SECOND (TEXT + 0x40)
#define THIRD (TEXT + 0x70)
#define OTHER (TEXT + 0x810)
/* Offsets of two data in the object. */
#define LEN 0x40u
#define FLAG 0x48u
#define DECIDES true
#define PLAIN false

enum { ENQUEUE, RESET, CALLER, ACT, FUNCTIONS };
static const char *const names[FUNCTIONS] = {"sch:enqueue", "sch:reset", "sch:caller", "sch:act"};

struct bench {
	struct protection p;
	struct prot_function functions[FUNCTIONS];
	struct prot_lock locks[3];
	struct prot_access accesses[32];
	/* A record in which both functions were seen at the same time, and an empty one: of these, p has the index. */
	struct protection *concurrent, *apart;
	struct prot_use uses[32];
	struct section_pair sections[4];
	struct section_replay replays[1];
	struct section_fate fates[2];
	struct suspicions found;
};

static struct guest_memory in_queue(uint32_t offset)
{
	return (struct guest_memory){.kind = GUEST_MEMORY_SLAB,
				     .cpu = -1,
				     .cache = "queue",
				     .merged = GUEST_MERGED_NO,
				     .object = QUEUE,
				     .object_size = 256,
				     .offset = offset};
}

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->concurrent = protection_new();
	b->apart = protection_new();
	assert_true(b->concurrent && b->apart);
	protection_pair(b->concurrent, ENQUEUE, RESET);
	b->p = (struct protection){.index = b->concurrent->index,
				   .pairs = b->concurrent->pairs,
				   .functions = b->functions,
				   .locks = b->locks,
				   .accesses = b->accesses,
				   .uses = b->uses,
				   .sections = b->sections,
				   .function_count = FUNCTIONS,
				   .lock_count = 1,
				   .pair_count = 1,
				   .section_count = 1};
	for (unsigned i = 0; i < FUNCTIONS; i++)
		snprintf(b->functions[i].name, sizeof(b->functions[i].name), "%s", names[i]);
	b->locks[0] = (struct prot_lock){.gva = QUEUE, .kind = LOCK_SPIN, .memory = in_queue(0), .name = "queue.lock"};
	b->locks[1] = (struct prot_lock){.gva = QUEUE + 8, .kind = LOCK_SPIN, .memory = in_queue(8), .name = "queue.other"};
	b->sections[0] = (struct section_pair){.first = FIRST, .second = SECOND, .count = 100, .between = {{OTHER, 5}}};
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	suspicions_fini(&b->found);
	protection_free(b->concurrent);
	protection_free(b->apart);
	free(b);
	return 0;
}

/* An access in the section that the call at `section` begins, `at` bytes after the call. */
static struct prot_use *use(struct bench *b, uint64_t section, unsigned at, uint32_t offset, uint8_t rw, bool decides)
{
	uint32_t function = section == OTHER ? RESET : ENQUEUE;
	struct prot_access *a = &b->accesses[b->p.access_count];
	struct prot_use *u = &b->uses[b->p.use_count++];

	*a = (struct prot_access){.pc = section + at,
				  .gva = QUEUE + offset,
				  .size = 8,
				  .rw = rw,
				  .memory = in_queue(offset),
				  .context_known = true,
				  .held = {{.lock = 0}},
				  .held_count = 1,
				  .function = function,
				  .operation = function,
				  .count = 100,
				  .count_shared = 90,
				  .who = 100 + function};
	snprintf(a->name, sizeof(a->name), "queue.%s", offset == LEN ? "len" : "flag");
	snprintf(a->site, sizeof(a->site), "%s+0x%x", names[function], (unsigned)(a->pc - TEXT));
	*u = (struct prot_use){.access = b->p.access_count++, .taken_at = section, .decides = decides, .count = 100};
	return u;
}

static size_t judge(struct bench *b)
{
	struct err err = {0};

	suspicions_fini(&b->found);
	assert_int_equal(protect_judge(&b->p, NULL, &b->found, &err), 0);
	return b->found.count;
}

static const struct suspicion *expect(struct bench *b, enum atomicity_pattern pattern)
{
	assert_int_equal(judge(b), 1);
	assert_int_equal(b->found.list[0].kind, SUSPICION_ATOMICITY);
	assert_int_equal(b->found.list[0].pattern, pattern);
	return &b->found.list[0];
}

static void expect_told(struct bench *b, enum atomicity_told reason)
{
	assert_int_equal(judge(b), 0);
	for (int i = 0; i < ATOMICITY_TOLD; i++) {
		assert_int_equal(b->found.told[i] != 0, i == (int)reason);
		assert_int_equal(b->found.told_text[i][0] != '\0', i == (int)reason);
	}
}

static void expect_nothing(struct bench *b)
{
	expect_told(b, ATOMICITY_TOLD);
}

/* The shape of sch_prio: the limit is checked in one section, the length grows in the next. */
static void check_then_act(struct bench *b)
{
	use(b, FIRST, 5, LEN, INSN_READ, DECIDES);
	use(b, SECOND, 5, LEN, UPDATE, PLAIN);
	use(b, OTHER, 5, LEN, INSN_WRITE, PLAIN);
}

static void read_then_update(struct bench *b)
{
	use(b, FIRST, 5, LEN, INSN_READ, PLAIN);
	use(b, SECOND, 9, LEN, INSN_WRITE, PLAIN);
	use(b, OTHER, 5, LEN, UPDATE, PLAIN);
}

static void test_check_then_act(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;
	char id[RACE_ID_MAX];

	check_then_act(b);
	s = expect(b, ATOMICITY_CHECK_ACT);
	assert_int_equal(s->side[0], 0);
	assert_int_equal(s->side[1], 1);
	assert_int_equal(s->between, 2);
	assert_int_equal(s->lock, 0);
	assert_int_equal(s->held, 5);
	assert_int_equal(s->total, 100);
	assert_true(s->concurrent);
	race_id("atomicity sch:enqueue+0x15 .. sch:enqueue+0x45", "sch:reset+0x815", id);
	assert_string_equal(s->id, id);
	assert_string_equal(
		s->text,
		"queue.len: check-then-act in enqueue(), which checks it under queue.lock, releases the lock, and acts on "
		"it without checking again under it; in between reset() changes it (seen in 5 of 100 cases)");
}

static void test_check_then_use(void **state)
{
	struct bench *b = *state;

	use(b, FIRST, 5, LEN, INSN_READ, DECIDES);
	use(b, SECOND, 5, LEN, INSN_READ, PLAIN);
	use(b, OTHER, 5, LEN, INSN_WRITE, PLAIN);
	expect(b, ATOMICITY_CHECK_ACT);
}

static void test_read_then_update(void **state)
{
	read_then_update(*state);
	expect(*state, ATOMICITY_UPDATE);
}

static void test_write_then_read(void **state)
{
	struct bench *b = *state;

	use(b, FIRST, 5, LEN, INSN_WRITE, PLAIN);
	use(b, SECOND, 5, LEN, INSN_READ, PLAIN);
	use(b, OTHER, 5, LEN, INSN_WRITE, PLAIN);
	expect(b, ATOMICITY_READ_BACK);
	/* The second section sets a bit in the word that it finds. */
	use(b, SECOND, 9, LEN, INSN_WRITE, PLAIN);
	expect_told(b, ATOMICITY_REPLACED);
}

/* The first section looks for an object in a list, and the second one puts another object into the list. */
static void test_step_along_a_list(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	b->uses[0].stores_back = true;
	expect_nothing(b);
	b->uses[0].stores_back = false;
	b->uses[0].steps = true;
	expect_nothing(b);
}

static void test_half_done_update(void **state)
{
	struct bench *b = *state;

	use(b, FIRST, 5, LEN, INSN_WRITE, PLAIN);
	use(b, SECOND, 5, LEN, INSN_WRITE, PLAIN);
	use(b, OTHER, 5, LEN, INSN_READ, PLAIN);
	expect(b, ATOMICITY_HALF_DONE);
	/* A section that reads in between changes nothing: that it came once is all that can be seen. */
	b->sections[0].between[0].count = 1;
	expect(b, ATOMICITY_HALF_DONE);
	/* The other section updates the datum, as an insertion into a list does with the links there. */
	use(b, OTHER, 9, LEN, INSN_WRITE, PLAIN);
	expect_told(b, ATOMICITY_REPLACED);
}

/* The section in between updates the datum by one instruction. */
static void test_update_in_between(void **state)
{
	struct bench *b = *state;

	use(b, FIRST, 5, LEN, INSN_WRITE, PLAIN);
	use(b, SECOND, 5, LEN, INSN_WRITE, PLAIN);
	use(b, OTHER, 5, LEN, UPDATE, PLAIN);
	expect_told(b, ATOMICITY_REPLACED);
}

static void publish(struct bench *b)
{
	use(b, FIRST, 5, FLAG, INSN_WRITE, PLAIN);
	use(b, SECOND, 5, LEN, INSN_WRITE, PLAIN);
	use(b, OTHER, 5, FLAG, INSN_READ, DECIDES);
	use(b, OTHER, 9, LEN, INSN_READ, PLAIN);
}

/* The first section links the object into a list: it stores both members, but that of the second datum in a neighbour. */
static void test_flag_and_value_of_a_neighbour(void **state)
{
	struct bench *b = *state;

	publish(b);
	use(b, FIRST, 9, LEN, INSN_WRITE, PLAIN);
	b->accesses[b->p.access_count - 1].gva += 0x1000;
	b->accesses[b->p.access_count - 1].memory.object += 0x1000;
	expect_nothing(b);
}

static void test_publish_before_init(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	publish(b);
	s = expect(b, ATOMICITY_PUBLISH);
	assert_int_equal(s->side[0], 0);
	assert_int_equal(s->side[1], 1);
	assert_int_equal(s->between, 3);
	assert_string_equal(s->text,
			    "queue.len: publish-before-init in enqueue(), which sets queue.flag under queue.lock, releases the "
			    "lock, and sets it under it; in between reset() uses it when queue.flag is set (seen in 5 of 100 "
			    "cases)");
}

static void test_value_before_flag(void **state)
{
	struct bench *b = *state;

	publish(b);
	use(b, FIRST, 1, LEN, INSN_WRITE, PLAIN);
	/* What is left is a value that is stored twice, and the flag says that there is one. */
	expect_told(b, ATOMICITY_CLAIMED);
}

static void test_reader_without_flag(void **state)
{
	publish(*state);
	((struct bench *)*state)->uses[2].decides = false;
	expect_nothing(*state);
}

static void test_reader_checks_value(void **state)
{
	publish(*state);
	((struct bench *)*state)->uses[3].decides = true;
	expect_told(*state, ATOMICITY_STATE);
}

static void test_flag_is_tested_and_set(void **state)
{
	publish(*state);
	use(*state, FIRST, 1, FLAG, INSN_READ, DECIDES);
	expect_told(*state, ATOMICITY_CLAIMED);
}

/* ---- serial ---- */

static void test_serial_interleavings(void **state)
{
	static const uint8_t serial[][3] = {{INSN_READ, INSN_READ, INSN_READ},
					    {INSN_READ, INSN_READ, INSN_WRITE},
					    {INSN_WRITE, INSN_READ, INSN_READ},
					    {INSN_WRITE, INSN_WRITE, INSN_WRITE}};

	for (size_t i = 0; i < sizeof(serial) / sizeof(serial[0]); i++) {
		struct bench *b = *state;

		b->p.access_count = b->p.use_count = 0;
		use(b, FIRST, 5, LEN, serial[i][0], DECIDES);
		use(b, OTHER, 5, LEN, serial[i][1], PLAIN);
		use(b, SECOND, 5, LEN, serial[i][2], PLAIN);
		if (serial[i][0] == INSN_WRITE)
			b->uses[0].decides = false;
		expect_nothing(b);
	}
}

/* ---- told apart ---- */

static void test_checked_again(void **state)
{
	check_then_act(*state);
	use(*state, SECOND, 1, LEN, INSN_READ, DECIDES);
	expect_told(*state, ATOMICITY_CHECKED_AGAIN);
}

/*
 * The state of a stream: the first section compares it with 2, and the second one stores it unless it is 8. Only a comparison
 * with another constant, which is not 0 and lets the store happen for all other values, is none of what the first section
 * found.
 */
static void test_checked_for_another_value(void **state)
{
	static const struct {
		struct lock_check first, second;
		bool again;
	} cases[] = {
		{{true, 2, 0}, {true, 8, SECOND + 9}, false},
		{{true, 8, 0}, {true, 8, SECOND + 9}, true},
		{{true, 2, 0}, {true, 0, SECOND + 9}, true},
		{{true, 0, 0}, {true, 1, SECOND + 9}, true}, /* it may be a flag */
		{{true, 2, 0}, {true, 8, SECOND + 5}, true}, /* the store comes after the code that is skipped */
		{{true, 2, 0}, {true, 8, 0}, true},
		{{0}, {true, 8, SECOND + 9}, true},
		{{true, 2, 0}, {0}, true},
	};
	struct bench *b = *state;

	check_then_act(b);
	b->accesses[1].rw = INSN_WRITE;
	use(b, SECOND, 1, LEN, INSN_READ, DECIDES);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		b->uses[0].check = cases[i].first;
		b->uses[3].check = cases[i].second;
		if (cases[i].again)
			expect_told(b, ATOMICITY_CHECKED_AGAIN);
		else
			expect(b, ATOMICITY_CHECK_ACT);
	}
}

static void test_read_again_without_a_check(void **state)
{
	check_then_act(*state);
	use(*state, SECOND, 1, LEN, INSN_READ, PLAIN);
	expect(*state, ATOMICITY_CHECK_ACT);
}

static void test_version(void **state)
{
	struct bench *b = *state;

	read_then_update(b);
	use(b, SECOND, 5, FLAG, INSN_READ, DECIDES);
	/* The other section does not change what is checked. */
	expect(b, ATOMICITY_UPDATE);
	use(b, OTHER, 9, FLAG, UPDATE, PLAIN);
	expect_told(b, ATOMICITY_VERSION);
}

static void test_exchange(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	b->accesses[1].locked = true;
	expect_told(b, ATOMICITY_EXCHANGE);
}

static void test_counters(void **state)
{
	struct bench *b = *state;

	use(b, FIRST, 5, LEN, UPDATE, PLAIN);
	use(b, SECOND, 5, LEN, UPDATE, PLAIN);
	use(b, OTHER, 5, LEN, INSN_READ, PLAIN);
	expect_told(b, ATOMICITY_COUNTER);
	/* By a load and a store, too. */
	b->accesses[1].rw = INSN_WRITE;
	use(b, SECOND, 1, LEN, INSN_READ, PLAIN);
	expect_told(b, ATOMICITY_COUNTER);
	/* A value that is read in the section after the store is no part of it. */
	b->accesses[3].pc = SECOND + 9;
	expect(b, ATOMICITY_HALF_DONE);
}

static void test_snapshot(void **state)
{
	struct bench *b = *state;

	use(b, FIRST, 5, LEN, INSN_READ, PLAIN);
	use(b, SECOND, 5, LEN, INSN_READ, PLAIN);
	use(b, OTHER, 5, LEN, UPDATE, PLAIN);
	expect_told(b, ATOMICITY_SNAPSHOT);
}

static void test_batch(void **state)
{
	struct bench *b = *state;

	read_then_update(b);
	/* The instruction of the second section runs in the first one, too: the loop's body. */
	b->accesses[3] = b->accesses[1];
	b->uses[3] = (struct prot_use){.access = 1, .taken_at = FIRST, .count = 10};
	b->p.use_count = 4;
	b->accesses[0].pc = SECOND + 10;
	expect_told(b, ATOMICITY_BATCH);
}

static void test_state(void **state)
{
	struct bench *b = *state;

	use(b, FIRST, 5, FLAG, INSN_WRITE, PLAIN);
	use(b, SECOND, 5, FLAG, INSN_WRITE, PLAIN);
	use(b, OTHER, 5, FLAG, INSN_READ, DECIDES);
	expect_told(b, ATOMICITY_STATE);
}

static void test_claimed(void **state)
{
	struct bench *b = *state;

	read_then_update(b);
	use(b, FIRST, 9, FLAG, INSN_WRITE, PLAIN);
	/* The other side does not ask. */
	expect(b, ATOMICITY_UPDATE);
	use(b, OTHER, 1, FLAG, INSN_READ, DECIDES);
	expect_told(b, ATOMICITY_CLAIMED);
}

/* A check whose result is stored in the same section is done: "if (busy) return; busy = 1; unlock". */
static void test_taken_in_the_first_section(void **state)
{
	struct bench *b = *state;

	use(b, FIRST, 5, FLAG, INSN_READ, DECIDES);
	use(b, FIRST, 9, FLAG, INSN_WRITE, PLAIN);
	use(b, SECOND, 5, FLAG, INSN_WRITE, PLAIN);
	use(b, OTHER, 5, FLAG, INSN_READ, DECIDES);
	use(b, OTHER, 9, FLAG, INSN_WRITE, PLAIN);
	expect_told(b, ATOMICITY_STATE);
}

/* A mutex around both sections, which the other function holds, too. */
static void test_outer_lock(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	b->p.lock_count = 2;
	for (unsigned i = 0; i < 3; i++) {
		b->accesses[i].held[1].lock = 1;
		b->accesses[i].held_count = 2;
		b->uses[3 + i] = (struct prot_use){.access = i, .lock = 1, .taken_at = i < 2 ? TEXT : OTHER - 4, .count = 100};
	}
	b->p.use_count = 6;
	expect_told(b, ATOMICITY_OUTER);
	/* Two readers of the outer lock do not exclude each other. */
	b->accesses[0].held[1].shared = b->accesses[2].held[1].shared = true;
	expect(b, ATOMICITY_CHECK_ACT);
	b->accesses[2].held[1].shared = false;
	expect_told(b, ATOMICITY_OUTER);
	/* The outer lock is released between the sections, too. */
	b->uses[4].taken_at = SECOND - 4;
	expect(b, ATOMICITY_CHECK_ACT);
	b->uses[4].taken_at = TEXT;
	b->accesses[2].held_count = 1;
	expect(b, ATOMICITY_CHECK_ACT);
	/* A lock that was taken outside of the subject is held all the time. */
	b->accesses[2].held_count = 2;
	b->p.use_count = 3;
	expect_told(b, ATOMICITY_OUTER);
}

/* The function tests the datum on its way to the act. This was seen in another section only, and with another object. */
static void test_checked_on_the_way(void **state)
{
	struct bench *b = *state;
	struct prot_use *check;

	check_then_act(b);
	check = use(b, THIRD, 0, LEN, INSN_READ, DECIDES);
	b->accesses[3].pc = SECOND + 2;
	b->accesses[3].gva += 0x1000;
	b->accesses[3].memory.object += 0x1000;
	expect_told(b, ATOMICITY_CHECKED_AGAIN);
	check->decides = false;
	expect(b, ATOMICITY_CHECK_ACT);
	check->decides = true;
	/* After the act, before the section, of another member, and in another function. */
	b->accesses[3].pc = SECOND + 9;
	expect(b, ATOMICITY_CHECK_ACT);
	b->accesses[3].pc = SECOND - 2;
	expect(b, ATOMICITY_CHECK_ACT);
	b->accesses[3].pc = SECOND + 2;
	b->accesses[3].memory.offset = FLAG;
	expect(b, ATOMICITY_CHECK_ACT);
	b->accesses[3].memory.offset = LEN;
	b->accesses[3].function = RESET;
	expect(b, ATOMICITY_CHECK_ACT);
	/* Under another lock, after the lock was taken once more, and in the first section. */
	b->accesses[3].function = ENQUEUE;
	expect_told(b, ATOMICITY_CHECKED_AGAIN);
	b->p.lock_count = 2;
	check->lock = 1;
	expect(b, ATOMICITY_CHECK_ACT);
	check->lock = 0;
	check->taken_at = SECOND + 3;
	expect(b, ATOMICITY_CHECK_ACT);
	check->taken_at = FIRST;
	expect(b, ATOMICITY_CHECK_ACT);
}

/* Two variables of a module, each at the start of its own object, are no member of one type. */
static void test_another_variable_on_the_way(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	use(b, THIRD, 0, LEN, INSN_READ, DECIDES);
	b->accesses[3].pc = SECOND + 2;
	b->accesses[3].gva += 0x1000;
	for (unsigned i = 0; i < 4; i++) {
		b->accesses[i].memory = (struct guest_memory){
			.kind = GUEST_MEMORY_MODULE, .cpu = -1, .object = b->accesses[i].gva, .object_size = 8};
	}
	expect(b, ATOMICITY_CHECK_ACT);
}

/* The function stores the member after its check, in the first section. This was seen with another object only. */
static void test_written_on_the_way(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	use(b, THIRD, 0, LEN, INSN_WRITE, PLAIN);
	b->accesses[3].gva += 0x1000;
	b->accesses[3].memory.object += 0x1000;
	b->accesses[3].pc = SECOND - 2;
	expect_nothing(b);
	/* A store after the second section's lock call is the act itself, or one more. */
	b->accesses[3].pc = SECOND + 2;
	expect(b, ATOMICITY_CHECK_ACT);
	b->accesses[3].pc = SECOND - 2;
	b->accesses[3].memory.offset = FLAG;
	expect(b, ATOMICITY_CHECK_ACT);
	/* A new object is initialised. */
	b->accesses[3].memory.offset = LEN;
	b->accesses[3].count_shared = 0;
	expect(b, ATOMICITY_CHECK_ACT);
}

/* A loop over a list with one lock tests each object, and the next loop changes them. */
static void test_several_objects(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	b->locks[0].memory.object = 0;
	use(b, SECOND, 5, LEN, UPDATE, PLAIN);
	b->accesses[3].gva += 0x1000;
	b->accesses[3].memory.object += 0x1000;
	expect(b, ATOMICITY_CHECK_ACT);
	b->sections[0].in_row = 50;
	expect(b, ATOMICITY_CHECK_ACT);
	b->sections[0].in_row = 51;
	expect_told(b, ATOMICITY_OBJECTS);
	/* The same lock is the same object if it is in the object. */
	b->locks[0].memory = in_queue(0);
	expect(b, ATOMICITY_CHECK_ACT);
	b->locks[0].memory.object = 0;
	/* Only one object was seen. */
	b->accesses[3].gva -= 0x1000;
	b->accesses[3].memory.object -= 0x1000;
	expect(b, ATOMICITY_CHECK_ACT);
}

static void test_waits(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	b->sections[0].waited = 99;
	expect(b, ATOMICITY_CHECK_ACT);
	b->sections[0].waited = 100;
	expect_told(b, ATOMICITY_ORDERED);
}

static void test_seen_by_holding(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	check_then_act(b);
	b->sections[0].holds = 100;
	b->sections[0].between[0].by_hold = b->sections[0].between[0].count;
	s = expect(b, ATOMICITY_CHECK_ACT);
	assert_int_equal(s->by_hold, s->held);
	assert_non_null(strstr(s->text, "of them by holding the CPU)"));
}

/* Give the case a list of the outcomes of copies, which is still empty. */
static struct section_replay *replayed(struct bench *b)
{
	struct section_replay *r = &b->replays[0];

	*r = (struct section_replay){.first = FIRST, .second = SECOND, .between = OTHER};
	b->p.section_replays = r;
	b->p.section_replay_count = 1;
	return r;
}

/* One copy that confirms is enough. Copies with a serial order's outcome lower the rank. A mixed outcome says nothing. */
static void test_run_in_copies(void **state)
{
	struct bench *b = *state;
	struct section_replay *r;
	struct section_replay_instance one = {.outcome = SECTION_OUTCOME_AS_A_FIRST};
	const struct suspicion *s;
	int rank;

	check_then_act(b);
	rank = expect(b, ATOMICITY_CHECK_ACT)->rank;
	assert_int_equal(b->found.list[0].verdict, SECTION_VERDICT_NONE);
	r = replayed(b);
	section_replay_count(r, &(struct section_replay_instance){.outcome = SECTION_OUTCOME_UNKNOWN});
	s = expect(b, ATOMICITY_CHECK_ACT);
	assert_int_equal(s->rank, rank);
	assert_non_null(strstr(s->text, "; copies could not tell whether it does harm"));
	for (unsigned i = 0; i < 4; i++)
		section_replay_count(r, &one);
	s = expect(b, ATOMICITY_CHECK_ACT);
	assert_true(s->rank < rank);
	assert_int_equal(s->verdict, SECTION_VERDICT_NOT_CONFIRMED);
	assert_non_null(strstr(s->text, "; not confirmed: its outcome in 4 copies was that of a serial order"));
	one = (struct section_replay_instance){.outcome = SECTION_OUTCOME_CONFIRMED, .difference_count = 1, .kept = 1};
	one.differences[0] =
		(struct section_difference){.serial = {.len = 2, .bytes = {{7}, {7}}, .name = "queue.len"}, .between = {8, 1}};
	section_replay_count(r, &one);
	s = expect(b, ATOMICITY_CHECK_ACT);
	assert_true(s->rank > rank);
	assert_int_equal(s->verdict, SECTION_VERDICT_CONFIRMED);
	assert_int_equal(s->replay, 1);
	assert_non_null(strstr(s->text, "; confirmed in a copy: queue.len is 0x108, and in both serial orders 0x7"));
	snprintf(one.trouble, sizeof(one.trouble), "BUG: list");
	section_replay_count(r, &one);
	assert_non_null(strstr(expect(b, ATOMICITY_CHECK_ACT)->text, "only in this order, the kernel complains: BUG: list"));
	/* The copies were of other sections. */
	r->between++;
	assert_int_equal(expect(b, ATOMICITY_CHECK_ACT)->verdict, SECTION_VERDICT_NONE);
}

/* The fate of the checked datum in 20 cases: in 4 of them it changed in between. */
static struct section_fate *follow_check(struct bench *b)
{
	check_then_act(b);
	b->uses[0].bits = UINT64_MAX;
	b->fates[0] = (struct section_fate){
		.pc = FIRST + 5, .first = FIRST, .second = SECOND, .seen = 20, .moved = 4, .acted = 16, .moved_bits = 0x30};
	b->p.fates = b->fates;
	b->p.fate_count = 1;
	return b->fates;
}

static void test_fate_of_a_faulty_pair(void **state)
{
	struct bench *b = *state;
	int rank;

	follow_check(b);
	rank = expect(b, ATOMICITY_CHECK_ACT)->rank;

	assert_non_null(strstr(b->found.list[0].text,
			       "; the run read the datum again in 20 cases, and it had changed in between in 4"));
	/* Only bits that the first section does not check have changed. */
	b->uses[0].bits = 0x4f;
	assert_true(expect(b, ATOMICITY_CHECK_ACT)->rank < rank);
	assert_null(strstr(b->found.list[0].text, "changed in between"));
}

static void test_acts_elsewhere(void **state)
{
	struct bench *b = *state;
	struct section_fate *fate = follow_check(b);

	fate->acted = 0;
	expect_told(b, ATOMICITY_ELSEWHERE);
	/* Too few cases say nothing, and neither does the fate of another access. */
	fate->seen = 19;
	expect(b, ATOMICITY_CHECK_ACT);
	fate->seen = 20;
	fate->pc++;
	expect(b, ATOMICITY_CHECK_ACT);
	/* A second section that reads changes nothing in any case. */
	fate->pc--;
	b->accesses[1].rw = INSN_READ;
	expect(b, ATOMICITY_CHECK_ACT);
}

/* The second section changes the checked datum in some cases: it may act seldom, or on one of several objects. */
static void test_acts_on_one_of_several(void **state)
{
	struct bench *b = *state;
	struct section_fate *fate = follow_check(b);

	fate->acted = 3;
	expect(b, ATOMICITY_CHECK_ACT);
	b->locks[0].memory.object = 0;
	use(b, SECOND, 5, LEN, UPDATE, PLAIN);
	b->accesses[3].gva += 0x1000;
	b->accesses[3].memory.object += 0x1000;
	expect_told(b, ATOMICITY_ELSEWHERE);
	fate->acted = 4;
	expect(b, ATOMICITY_CHECK_ACT);
}

/* One section in between may be chance, if the datum never changes there. */
static void test_seen_once(void **state)
{
	struct bench *b = *state;
	struct section_fate *fate = follow_check(b);

	b->sections[0].between[0].count = 1;
	expect(b, ATOMICITY_CHECK_ACT);
	fate->moved = fate->moved_bits = 0;
	fate->acted = 20;
	expect_told(b, ATOMICITY_ONCE);
	assert_int_equal(b->found.follow_count, 1);
	b->sections[0].between[0].count = 2;
	expect(b, ATOMICITY_CHECK_ACT);
	/* Too few cases were followed, but there were many. */
	b->sections[0].between[0].count = 1;
	fate->seen = 15;
	expect_told(b, ATOMICITY_ONCE);
	fate->seen = 0;
	b->sections[0].count = 64;
	expect_told(b, ATOMICITY_ONCE);
	b->sections[0].count = 63;
	expect(b, ATOMICITY_CHECK_ACT);
	fate->seen = 16;
	expect_told(b, ATOMICITY_ONCE);
}

/* Both sections look at a hint, as at the last entry that was found: the function goes on whether it is right or not. */
static void test_either_way(void **state)
{
	struct bench *b = *state;
	struct section_fate *fate = follow_check(b);

	fate->seen = 8;
	for (unsigned i = 0; i < 2; i++)
		fate->reached[i] = fate->missed[i] = 4;
	expect_told(b, ATOMICITY_EITHER);
	/* It never went on, or always, when the check found something. */
	fate->reached[1] = 0;
	expect(b, ATOMICITY_CHECK_ACT);
	fate->reached[1] = 4;
	fate->missed[0] = 3;
	expect(b, ATOMICITY_CHECK_ACT);
}

/* The data of a suspicion are followed, and those of a pair that becomes one as soon as a section comes in between. */
static void test_follow(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	b->uses[0].test = (struct lock_test){true, 8, 0};
	for (unsigned i = 0; i < 2; i++) {
		b->sections[0].between[0].count = i ? 0 : 5;
		judge(b);
		assert_int_equal(b->found.follow_count, 1);
		assert_int_equal(b->found.follow[0].pc, FIRST + 5);
		assert_int_equal(b->found.follow[0].first, FIRST);
		assert_int_equal(b->found.follow[0].second, SECOND);
		assert_int_equal(b->found.follow[0].between_pc, OTHER + 5);
		assert_int_equal(b->found.follow[0].between, OTHER);
		assert_int_equal(b->found.follow[0].test.mask, 8);
	}
	b->uses[1].decides = true;
	expect_told(b, ATOMICITY_CHECKED_AGAIN);
	assert_int_equal(b->found.follow_count, 0);
}

static void test_others_change_other_bits(void **state)
{
	struct bench *b = *state;

	follow_check(b);
	/* The section in between, followed by itself, changes bit 1 of the second byte, which is bit 9 of the word. */
	b->fates[1] = (struct section_fate){.pc = OTHER + 5, .first = OTHER, .seen = 20, .own = 20, .own_bits = 2};
	b->accesses[2].gva++;
	b->accesses[2].size = 1;
	b->p.fate_count = 2;
	expect(b, ATOMICITY_CHECK_ACT);
	b->uses[0].bits = 0x202;
	expect(b, ATOMICITY_CHECK_ACT);
	b->uses[0].bits = 2;
	expect_told(b, ATOMICITY_UNCHANGED);
	b->fates[1].seen = 15;
	expect(b, ATOMICITY_CHECK_ACT);
	/* A second section that stores a value without reading the word undoes the change of the other bit. */
	b->fates[1].seen = 20;
	b->accesses[1].rw = INSN_WRITE;
	expect(b, ATOMICITY_CHECK_ACT);
	b->fates[1].own_bits = 0;
	expect_told(b, ATOMICITY_UNCHANGED);
}

/* The first section itself changes what it has read: the read is not its last access. */
static void test_own_change(void **state)
{
	struct bench *b = *state;
	struct section_fate *fate = follow_check(b);

	fate->own = 10;
	expect(b, ATOMICITY_CHECK_ACT);
	fate->own = 11;
	expect_nothing(b);
}

/* If no section was seen in between, there is no suspicion, unless a copy confirms it. */
static void test_never_in_between(void **state)
{
	struct section_replay_instance one = {.outcome = SECTION_OUTCOME_CONFIRMED, .difference_count = 1, .kept = 1};
	struct bench *b = *state;
	const struct suspicion *s;
	int seen_rank;

	check_then_act(b);
	seen_rank = expect(b, ATOMICITY_CHECK_ACT)->rank;
	b->sections[0].between[0].count = 0;
	expect_told(b, ATOMICITY_NEVER);
	b->p.index = b->apart->index;
	expect_told(b, ATOMICITY_APART);
	section_replay_count(replayed(b), &one);
	s = expect(b, ATOMICITY_CHECK_ACT);
	assert_int_equal(s->held, 0);
	assert_int_equal(s->verdict, SECTION_VERDICT_CONFIRMED);
	assert_int_equal(s->rank, seen_rank);
}

/* ---- what is no case at all ---- */

static void test_sections_that_do_not_follow(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	b->sections[0].second = THIRD;
	expect_nothing(b);
	b->p.section_count = 0;
	expect_nothing(b);
}

static void test_another_lock_or_datum(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	b->p.lock_count = 2;
	b->uses[2].lock = 1;
	expect_nothing(b);
	b->uses[2].lock = 0;
	b->accesses[2].gva += 8;
	expect_nothing(b);
	b->accesses[2].gva -= 8;
	b->accesses[2].life = 1;
	expect_nothing(b);
}

static void test_one_context(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	b->accesses[2].who = b->accesses[0].who;
	expect_nothing(b);
	b->accesses[2].several = true;
	expect(b, ATOMICITY_CHECK_ACT);
}

static void test_unpublished(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	b->accesses[0].count_shared = 0;
	expect_nothing(b);
}

/* The datum is accessed in a third section in between: each pair of neighbours is a case of its own. */
static void test_neighbours(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	b->sections[0] = (struct section_pair){.first = FIRST, .second = SECOND, .count = 100, .between = {{OTHER, 5}}};
	b->sections[1] = (struct section_pair){.first = FIRST, .second = THIRD, .count = 100, .between = {{OTHER, 5}}};
	b->sections[2] = (struct section_pair){.first = SECOND, .second = THIRD, .count = 100, .between = {{OTHER, 5}}};
	b->p.section_count = 3;
	use(b, THIRD, 5, LEN, INSN_WRITE, PLAIN);
	assert_int_equal(judge(b), 1);
	assert_int_equal(b->found.list[0].side[1], 1);
}

/* The same member of two objects is one suspicion. */
static void test_two_objects(void **state)
{
	struct bench *b = *state;

	check_then_act(b);
	for (unsigned i = 0; i < 3; i++) {
		b->accesses[3 + i] = b->accesses[i];
		b->accesses[3 + i].gva += 0x1000;
		b->accesses[3 + i].memory.object += 0x1000;
		b->uses[3 + i] = b->uses[i];
		b->uses[3 + i].access += 3;
		b->uses[3 + i].lock = 1;
	}
	b->p.access_count = b->p.use_count = 6;
	b->p.lock_count = 2;
	expect(b, ATOMICITY_CHECK_ACT);
}

/* ---- two locks ---- */

/* The first section is under lock 0, the second one under lock 1, and the section in between under both. */
static void two_locks(struct bench *b, uint8_t second, bool decides)
{
	struct prot_access *a = b->accesses;

	b->p.lock_count = 2;
	b->sections[0].two_locks = true;
	use(b, FIRST, 5, LEN, INSN_READ, DECIDES);
	use(b, SECOND, 5, LEN, second, decides)->lock = 1;
	a[1].held[0].lock = 1;
	use(b, OTHER, 5, LEN, INSN_WRITE, PLAIN)->lock = 1;
	a[2].held[1].lock = 1;
	a[2].held_count = 2;
}

static void test_two_locks(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	two_locks(b, INSN_READ, PLAIN);
	s = expect(b, ATOMICITY_CHECK_ACT);
	assert_int_equal(s->lock, 0);
	assert_int_equal(s->second_lock, 1);
	assert_string_equal(
		s->text,
		"queue.len: check-then-act in enqueue(), which checks it under queue.lock, releases the lock, and acts on "
		"it without checking again under queue.other; in between reset() changes it under both (seen in 5 of 100 "
		"cases)");
}

static void test_two_locks_checked_again(void **state)
{
	struct bench *b = *state;

	two_locks(b, INSN_READ, DECIDES);
	expect_told(b, ATOMICITY_CHECKED_AGAIN);
}

/* A section that lacks one of the locks, or shares it, can also run during a section of the pair. */
static void test_two_locks_not_both_held(void **state)
{
	struct bench *b = *state;

	two_locks(b, INSN_READ, PLAIN);
	b->accesses[2].held[0].shared = true;
	expect_nothing(b);
	b->accesses[2].held[0] = (struct prot_held){.lock = 0, .maybe = true};
	expect_nothing(b);
}

/* Without a decision, nothing says that the second section depends on the first one. */
static void test_two_locks_without_a_check(void **state)
{
	struct bench *b = *state;

	two_locks(b, INSN_READ, PLAIN);
	b->uses[0].decides = false;
	expect_told(b, ATOMICITY_SNAPSHOT);
}

static void test_two_locks_in_an_outer_one(void **state)
{
	struct bench *b = *state;

	two_locks(b, INSN_READ, PLAIN);
	b->p.lock_count = 3;
	for (unsigned i = 0; i < 3; i++)
		b->accesses[i].held[b->accesses[i].held_count++].lock = 2;
	expect_told(b, ATOMICITY_OUTER);
}

/* ---- sections in two functions ---- */

/* The sections of `check_then_act()`, in two functions that caller() has called. */
static void in_two_functions(struct bench *b)
{
	check_then_act(b);
	b->sections[0].caller = TEXT;
	b->sections[0].caller_name = CALLER;
	b->sections[0].caller_decides = true;
	b->accesses[1].function = ACT;
}

static void test_two_functions(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	in_two_functions(b);
	s = expect(b, ATOMICITY_CHECK_ACT);
	assert_int_equal(s->caller, CALLER + 1);
	assert_string_equal(s->text,
			    "queue.len: check-then-act in caller(), which checks it under queue.lock in enqueue(), releases "
			    "the lock, and acts on it without checking again under it in act(); in between reset() "
			    "changes it (seen in 5 of 100 cases)");
	b->sections[0].caller_name = PROTECTION_NONE;
	assert_int_equal(expect(b, ATOMICITY_CHECK_ACT)->caller, 0);
}

static void test_own_steps(void **state)
{
	struct bench *b = *state;

	in_two_functions(b);
	b->sections[0].caller_decides = false;
	expect_told(b, ATOMICITY_OWN_STEPS);
}

/* What the first function reads may reach the second one by other ways than a decision, but they are not followed. */
static void test_own_steps_that_read(void **state)
{
	struct bench *b = *state;

	in_two_functions(b);
	b->uses[0].decides = false;
	b->accesses[1].rw = INSN_WRITE;
	expect_told(b, ATOMICITY_OWN_STEPS);
}

/* The first function looks at a hint, as at the last entry that was found, before it searches. */
static void test_same_results(void **state)
{
	struct bench *b = *state;

	in_two_functions(b);
	b->uses[0].same_results = true;
	expect_told(b, ATOMICITY_EITHER);
	/* The caller itself makes the check, so its own result says nothing. */
	b->accesses[0].function = CALLER;
	expect(b, ATOMICITY_CHECK_ACT);
	b->accesses[0].function = PROTECTION_NONE;
	b->sections[0].caller_name = PROTECTION_NONE;
	expect(b, ATOMICITY_CHECK_ACT);
	/* One function makes both sections. */
	check_then_act(b);
	b->uses[0].same_results = true;
	expect(b, ATOMICITY_CHECK_ACT);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_check_then_act),
		T(test_check_then_use),
		T(test_read_then_update),
		T(test_write_then_read),
		T(test_half_done_update),
		T(test_update_in_between),
		T(test_step_along_a_list),
		T(test_publish_before_init),
		T(test_flag_and_value_of_a_neighbour),
		T(test_value_before_flag),
		T(test_reader_without_flag),
		T(test_reader_checks_value),
		T(test_flag_is_tested_and_set),
		T(test_serial_interleavings),
		T(test_checked_again),
		T(test_checked_for_another_value),
		T(test_read_again_without_a_check),
		T(test_version),
		T(test_exchange),
		T(test_counters),
		T(test_snapshot),
		T(test_batch),
		T(test_state),
		T(test_claimed),
		T(test_taken_in_the_first_section),
		T(test_outer_lock),
		T(test_checked_on_the_way),
		T(test_another_variable_on_the_way),
		T(test_written_on_the_way),
		T(test_several_objects),
		T(test_waits),
		T(test_seen_by_holding),
		T(test_run_in_copies),
		T(test_fate_of_a_faulty_pair),
		T(test_acts_elsewhere),
		T(test_seen_once),
		T(test_either_way),
		T(test_follow),
		T(test_acts_on_one_of_several),
		T(test_others_change_other_bits),
		T(test_own_change),
		T(test_never_in_between),
		T(test_sections_that_do_not_follow),
		T(test_another_lock_or_datum),
		T(test_one_context),
		T(test_unpublished),
		T(test_neighbours),
		T(test_two_objects),
		T(test_two_locks),
		T(test_two_locks_checked_again),
		T(test_two_locks_not_both_held),
		T(test_two_locks_without_a_check),
		T(test_two_locks_in_an_outer_one),
		T(test_two_functions),
		T(test_own_steps),
		T(test_own_steps_that_read),
		T(test_same_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
