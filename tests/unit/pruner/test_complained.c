// SPDX-License-Identifier: GPL-2.0-or-later
/* A complaint of the guest's kernel that follows a race. The race was recorded; the complaints are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hv/race/complaint_link.h"
#include "hv/race/race.h"
#include "tests/unit/pruner/prune_bench.h"

#define MS UINT64_C(1000000)

struct made {
	struct bench *b;
	struct race *race;
	struct complaint c;
};

/* A folded race, and an oops at the instruction of its second side, 50 ms after its last instance. */
static struct made make(void **state)
{
	struct made m = {.b = bench_of(state, "gt_statcount_rx", "gt_statcount_tx")};
	const struct race_side *side;

	m.race = m.b->race;
	side = &m.race->first.sides[1];
	m.c = (struct complaint){.kind = COMPLAINT_OOPS,
				 .time_ns = m.race->last_ns + 50 * MS,
				 .where = {.text = "somewhere", .offset = side->pc - side->symbol.addr}};
	snprintf(m.c.text, sizeof(m.c.text), "BUG: unable to handle page fault");
	snprintf(m.c.where.function, sizeof(m.c.where.function), "%s", side->symbol.name);
	snprintf(m.c.where.module, sizeof(m.c.where.module), "%s", side->symbol.module);
	return m;
}

static enum complaint_link link_of(struct made *m)
{
	complaint_link_race(m->race, &m->c, 1);
	return m->race->complaint.link;
}

/* A complaint at code and about an address that are not the race's. */
static void elsewhere(struct made *m)
{
	snprintf(m->c.where.function, sizeof(m->c.where.function), "another_function");
}

static void same_instruction(void **state)
{
	struct made m = make(state);

	bench_expect(m.b, VERDICT_BENIGN, "statistics-counter");
	assert_int_equal(link_of(&m), COMPLAINT_SAME_INSTRUCTION);
	assert_int_equal(m.race->complaint.side, 1);
	assert_int_equal(m.race->complaint.after_ns, 50 * MS);
	bench_expect(m.b, VERDICT_HARMFUL, "kernel-complained");
	assert_int_equal(m.b->verdict.rank, 99);
	bench_says(m.b, "the guest's kernel complained at the instruction of this race, at somewhere, at most 0.1 s after the "
			"race: BUG: unable");
	bench_says(m.b, "without the complaint the race is benign (statistics-counter): ");
}

static void same_function(void **state)
{
	struct made m = make(state);

	m.c.where.offset++;
	assert_int_equal(link_of(&m), COMPLAINT_SAME_FUNCTION);
	bench_expect(m.b, VERDICT_BENIGN, "statistics-counter");
	bench_says(m.b,
		   "complained in a function of this race, at somewhere: BUG: unable to handle page fault; only the function");
}

/* One oops may be in a function with ten races, so the function alone gives no top rank. */
static void same_function_raises_a_little(void **state)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");
	const struct race_side *side = &b->race->first.sides[0];
	struct complaint c = {.kind = COMPLAINT_OOPS, .time_ns = b->race->last_ns + MS};
	int before;

	bench_expect_class(b, VERDICT_HARMFUL);
	before = b->verdict.rank;
	snprintf(c.where.function, sizeof(c.where.function), "%s", side->symbol.name);
	snprintf(c.where.module, sizeof(c.where.module), "%s", side->symbol.module);
	c.where.offset = side->pc - side->symbol.addr + 1;
	complaint_link_race(b->race, &c, 1);
	assert_int_equal(b->race->complaint.link, COMPLAINT_SAME_FUNCTION);
	bench_expect_class(b, VERDICT_HARMFUL);
	assert_int_equal(b->verdict.rank, before + 10);
}

/* Let the datum of all instances be 8 bytes, with these values. */
static void set_values(struct race *race, uint64_t before, uint64_t after)
{
	for (unsigned i = 0; i < race->kept; i++) {
		race->instances[i].data_len = sizeof(before);
		memcpy(race->instances[i].before, &before, sizeof(before));
		memcpy(race->instances[i].after, &after, sizeof(after));
	}
}

static void same_pointer(void **state)
{
	struct made m = make(state);
	const uint64_t object = 0xffff888000001040;

	m.c.where.offset++;
	m.c.address_known = true;
	m.c.address = 8;
	set_values(m.race, object, 0);
	assert_int_equal(link_of(&m), COMPLAINT_SAME_POINTER);
	bench_expect(m.b, VERDICT_HARMFUL, "kernel-complained");
	assert_int_equal(m.b->verdict.rank, 99);
	bench_says(m.b, "in a function of this race, on an access by the pointer of this race");
	m.c.address = object - 8;
	assert_int_equal(link_of(&m), COMPLAINT_SAME_POINTER);
	m.c.address = object + 4096;
	assert_int_equal(link_of(&m), COMPLAINT_SAME_FUNCTION);
	/* A number that is 0 is no pointer that is NULL. */
	m.c.address = 8;
	set_values(m.race, 1, 0);
	assert_int_equal(link_of(&m), COMPLAINT_SAME_FUNCTION);
	bench_expect_class(m.b, VERDICT_HARMFUL);
	bench_says(m.b, "only the function connects the two");
	/* The instances of a held writer may all have the value before its store. */
	set_values(m.race, object, object);
	assert_int_equal(link_of(&m), COMPLAINT_SAME_FUNCTION);
	bench_expect(m.b, VERDICT_HARMFUL, "kernel-complained");
	assert_int_equal(m.b->verdict.rank, 99);
	bench_says(m.b, "in a function of this race, on an access by a NULL pointer, at somewhere");
	m.c.address = 1 << 20;
	assert_int_equal(link_of(&m), COMPLAINT_SAME_FUNCTION);
	bench_expect_class(m.b, VERDICT_UNCLEAR);
	bench_says(m.b, "only the function connects the two");
	set_values(m.race, object, 0);
	elsewhere(&m);
	assert_int_equal(link_of(&m), COMPLAINT_UNLINKED);
}

/* list_del() and its like complain in a helper. */
static void called_by_the_function(void **state)
{
	struct made m = make(state);

	m.c.frames[3] = m.c.where;
	m.c.frame_count = 4;
	elsewhere(&m);
	assert_int_equal(link_of(&m), COMPLAINT_SAME_FUNCTION);
	m.c.frames[4] = m.c.frames[3];
	m.c.frames[3] = m.c.frames[2];
	m.c.frame_count = 5;
	assert_int_equal(link_of(&m), COMPLAINT_UNLINKED);
}

static void same_object(void **state)
{
	struct made m = make(state);
	struct guest_memory *memory = &m.race->first.memory;

	elsewhere(&m);
	memory->object = 0xffff888000001040;
	memory->object_size = 64;
	m.c.address_known = true;
	m.c.address = memory->object + memory->object_size - 1;
	assert_int_equal(link_of(&m), COMPLAINT_SAME_OBJECT);
	bench_expect(m.b, VERDICT_HARMFUL, "kernel-complained");
	bench_says(m.b, "about an address in the object of this race");
	m.c.address++;
	assert_int_equal(link_of(&m), COMPLAINT_UNLINKED);
	m.c.address_known = false;
	m.c.address = memory->object;
	assert_int_equal(link_of(&m), COMPLAINT_UNLINKED);
}

/* An oops of other code, of the same task at the same time, is no business of the race. */
static void unrelated(void **state)
{
	struct made m = make(state);

	elsewhere(&m);
	m.c.pid = m.race->first.sides[1].context.pid;
	m.c.cpu = m.race->first.sides[1].cpu;
	m.c.time_ns = m.race->last_ns;
	assert_int_equal(link_of(&m), COMPLAINT_UNLINKED);
	bench_expect(m.b, VERDICT_BENIGN, "statistics-counter");
}

static void function_of_another_module(void **state)
{
	struct made m = make(state);

	m.c.where.module[0] = '\0';
	assert_int_equal(link_of(&m), COMPLAINT_UNLINKED);
}

static void too_late_or_too_early(void **state)
{
	struct made m = make(state);

	m.c.time_ns = m.race->last_ns + 10000 * MS;
	assert_int_equal(link_of(&m), COMPLAINT_SAME_INSTRUCTION);
	m.c.time_ns++;
	assert_int_equal(link_of(&m), COMPLAINT_UNLINKED);
	m.c.time_ns = m.race->instances[0].time_ns - 1;
	m.race->kept = 1;
	assert_int_equal(link_of(&m), COMPLAINT_UNLINKED);
}

static void strongest_of_several(void **state)
{
	struct made m = make(state);
	struct complaint list[3] = {m.c, m.c, m.c};

	list[0].where.offset++;
	snprintf(list[0].text, sizeof(list[0].text), "the first");
	snprintf(list[1].text, sizeof(list[1].text), "the second");
	complaint_link_race(m.race, list, 3);
	assert_int_equal(m.race->complaint.link, COMPLAINT_SAME_INSTRUCTION);
	assert_string_equal(m.race->complaint.text, "the second");
	complaint_link_race(m.race, NULL, 0);
	assert_int_equal(m.race->complaint.link, COMPLAINT_UNLINKED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(same_instruction),
		BENCH_TEST(same_function),
		BENCH_TEST(same_function_raises_a_little),
		BENCH_TEST(same_pointer),
		BENCH_TEST(called_by_the_function),
		BENCH_TEST(same_object),
		BENCH_TEST(unrelated),
		BENCH_TEST(function_of_another_module),
		BENCH_TEST(too_late_or_too_early),
		BENCH_TEST(strongest_of_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
