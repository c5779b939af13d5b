// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks of both sides. The detector copies them in full, with the stacks that they interrupted. The reporter's thread unwinds
 * the copies, trims them, and adds the name of the datum.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/detect/detect_rig.h"
#include "tests/unit/race/side_room.h"

#define STACK(cpu) (RIG_STACKS + (cpu)*2 * FAKE_STACK_SIZE)
#define STACK_END(cpu) (STACK(cpu) + FAKE_STACK_SIZE)
#define STACK_GPA(cpu) (RIG_STACKS_GPA + (cpu)*FAKE_STACK_SIZE)

struct seen {
	unsigned count;
	struct observation last;
	struct race_side_room rooms[2]; /* the memory that the sides point to */
};

static void on_race(void *ctx, const struct observation *o)
{
	struct seen *seen = ctx;

	seen->count++;
	seen->last = *o;
	for (int i = 0; i < 2; i++)
		side_into_room(&seen->last.sides[i], &seen->rooms[i]);
}

static int setup(void **state)
{
	struct rig *r = rig_new(3, 4);
	struct seen *seen = calloc(1, sizeof(*seen));

	if (!r || !seen)
		return -1;
	r->sink = (struct detect_sink){.race = on_race, .ctx = seen};
	rig_remake(r);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	free(r->sink.ctx);
	rig_free(r);
	return 0;
}

/* Let CPU 1 write while CPU 0 is held before its own write. */
static void conflict(struct rig *r)
{
	struct x86_regs held = rig_regs(r, 0, 0), other = rig_regs(r, 1, 0x123);

	rig_plant(r, 0, WRITE_8);
	assert_int_equal(rig_hit(r, 0, &held).kind, TARGET_HOLD);
	rig_watch_hit(r, 1, &other, rig_cookie(r, 0));
}

/* The observation that the reporter makes. The sampler arms no points, because the guest is never ready. */
static const struct observation *report(struct rig *r)
{
	struct seen *seen = r->sink.ctx;

	assert_int_equal(detect_start(r->d, NULL), 0);
	detect_stop(r->d);
	return seen->count ? &seen->last : NULL;
}

static void test_interrupted_stacks_are_copied(void **state)
{
	struct rig *r = *state;
	const struct observation *o;
	const struct race_side *side;

	fake_write(r->ft, STACK_GPA(2) + 0x100, "interrupted", 11);
	fake_write(r->ft, STACK_GPA(2) + 0x3f00, "twice", 5);
	r->guest.interrupted[0] = (struct guest_stack){STACK(2) + 0x100, STACK(2) + 0x200};
	r->guest.interrupted[1] = (struct guest_stack){STACK(2) + 0x3f00, STACK_END(2)};
	r->guest.interrupted_count = 2;
	conflict(r);
	o = rig_observation(r);
	assert_non_null(o);
	for (int i = 0; i < 2; i++) {
		side = &o->sides[i];
		assert_int_equal(side->interrupted[0].gva, STACK(2) + 0x100);
		assert_int_equal(side->interrupted[0].len, 0x100);
		assert_memory_equal(side->below, "interrupted", 11);
		assert_int_equal(side->interrupted[1].gva, STACK(2) + 0x3f00);
		assert_int_equal(side->interrupted[1].len, 0x100);
		assert_memory_equal(side->below + 0x100, "twice", 5);
		assert_int_equal(side->calls.count, 0);
	}
}

/* The copy leaves out what exceeds its room. */
static void test_too_much_stack(void **state)
{
	struct rig *r = *state;
	const struct race_side *side;

	r->guest.interrupted[0] = (struct guest_stack){STACK(2) + 0x1000, STACK_END(2)};
	r->guest.interrupted[1] = (struct guest_stack){STACK(0), STACK_END(0)};
	r->guest.interrupted_count = 2;
	conflict(r);
	side = &rig_observation(r)->sides[0];
	assert_int_equal(side->interrupted[0].len, 0x3000);
	assert_int_equal(side->interrupted[1].len, RACE_STACK_MAX - 0x3000);
}

static void test_stack_not_mapped(void **state)
{
	struct rig *r = *state;
	const struct race_side *side;

	r->guest.interrupted[0] = (struct guest_stack){RIG_IO, RIG_IO + 0x1000};
	r->guest.interrupted[1] = (struct guest_stack){STACK(0) + 8, STACK(0)};
	r->guest.interrupted_count = 2;
	conflict(r);
	side = &rig_observation(r)->sides[0];
	assert_int_equal(side->interrupted[0].len, 0);
}

static void test_unwound_and_trimmed(void **state)
{
	static const uint64_t words[] = {0x1111, 0x2222, 0x3333};
	struct rig *r = *state;
	const struct observation *o;

	r->guest.interrupted[0] = (struct guest_stack){STACK(2) + 0x100, STACK(2) + 0x200};
	r->guest.interrupted[1] = (struct guest_stack){STACK(2) + 0x400, STACK(2) + 0x480};
	r->guest.interrupted_count = 2;
	r->guest.unused = 0x40;
	r->guest.origin = GUEST_ORIGIN_KTHREAD;
	for (unsigned cpu = 0; cpu < 2; cpu++)
		fake_write(r->ft, STACK_GPA(cpu) + FAKE_STACK_SIZE / 2, &words[0], 8);
	fake_write(r->ft, STACK_GPA(2) + 0x140, &words[1], 8);
	fake_write(r->ft, STACK_GPA(2) + 0x440, &words[2], 8);
	conflict(r);
	o = report(r);
	assert_non_null(o);
	for (int i = 0; i < 2; i++) {
		const struct race_side *side = &o->sides[i];

		assert_int_equal(side->calls.count, 4);
		assert_int_equal(side->calls.frames[0].pc, side->pc ? side->pc : side->regs.rip);
		for (unsigned f = 0; f < 3; f++)
			assert_int_equal(side->calls.frames[f + 1].pc, words[f]);
		assert_int_equal(side->interrupted[0].gva, STACK(2) + 0x140);
		assert_int_equal(side->interrupted[0].len, 0xc0);
		assert_memory_equal(side->below, &words[1], 8);
		assert_int_equal(side->interrupted[1].gva, STACK(2) + 0x440);
		assert_int_equal(side->interrupted[1].len, 0x40);
		assert_memory_equal(side->below + 0xc0, &words[2], 8);
	}
	assert_int_equal(rig_stats(r).stacks, 2);
	assert_int_equal(rig_stats(r).stacks_unwound, 2);
}

static void test_not_unwound_is_counted(void **state)
{
	struct rig *r = *state;

	r->guest.origin = GUEST_ORIGIN_UNKNOWN;
	conflict(r);
	assert_non_null(report(r));
	assert_int_equal(rig_stats(r).stacks, 2);
	assert_int_equal(rig_stats(r).stacks_unwound, 0);
}

/* The CPU stops after its access. The first frame must have the address of the access, not of the next instruction. */
static void test_first_frame_is_the_access(void **state)
{
	struct rig *r = *state;
	const struct symbol function = {.name = "writer", .addr = RIG_TEXT + 0x100, .size = 0x40, .type = 't'};
	struct x86_regs held = rig_regs(r, 0, 0), other = rig_regs(r, 1, 0x103);
	const struct observation *o;

	rig_functions(r, &function, 1);
	rig_code(r, 0x100, WRITE_8);
	rig_plant(r, 0, WRITE_8);
	assert_int_equal(rig_hit(r, 0, &held).kind, TARGET_HOLD);
	rig_watch_hit(r, 1, &other, rig_cookie(r, 0));
	o = report(r);
	assert_non_null(o);
	assert_int_equal(o->sides[1].pc, RIG_TEXT + 0x100);
	assert_int_equal(o->sides[1].regs.rip, RIG_TEXT + 0x103);
	assert_int_equal(o->sides[1].calls.frames[0].pc, RIG_TEXT + 0x100);
}

/* The held side names the datum. It has not made its access yet, so its registers still give the address. */
static void test_datum_is_named(void **state)
{
	struct rig *r = *state;
	const struct observation *o;

	r->guest.memory = (struct guest_memory){.kind = GUEST_MEMORY_SLAB, .cache = "a_cache", .member = "a_member"};
	conflict(r);
	o = report(r);
	assert_non_null(o);
	assert_int_equal(o->memory.kind, GUEST_MEMORY_SLAB);
	assert_string_equal(o->memory.cache, "a_cache");
	assert_string_equal(o->memory.member, "a_member");
	assert_int_equal(o->memory.object, RIG_DATA);
	assert_int_equal(o->memory.object_size, 8);
	assert_int_equal(o->memory.symbol.addr, RIG_TEXT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_interrupted_stacks_are_copied, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_much_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stack_not_mapped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unwound_and_trimmed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_unwound_is_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_first_frame_is_the_access, setup, teardown),
		cmocka_unit_test_setup_teardown(test_datum_is_named, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
