// SPDX-License-Identifier: GPL-2.0-or-later
/* What people read of a race that was run in both orders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/report/replay.h"
#include "tests/unit/replay/replay_made.h"
#include "tests/unit/report/sample.h"

struct fixture {
	struct race race;
	char lines[REPLAY_LINES_MAX][REPLAY_LINE_MAX];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f || race_have_replay(&f->race) < 0)
		return -1;
	strcpy(f->race.site[0], "ext4:ext4_foo+0x1c");
	strcpy(f->race.site[1], "generic_bar+0x33");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->race.replay);
	free(f);
	return 0;
}

static void expect(struct fixture *f, unsigned n, const char *const lines[])
{
	assert_int_equal(replay_lines(&f->race, f->lines), n);
	for (unsigned i = 0; i < n; i++)
		assert_string_equal(f->lines[i], lines[i]);
}

#define EXPECT(f, ...) \
	expect(f, sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *), (const char *const[]){__VA_ARGS__})

static void nothing_is_said_of_a_race_never_replayed(void **state)
{
	struct fixture *f = *state;
	const struct race never = {0};

	assert_int_equal(replay_lines(&never, f->lines), 0);
}

static void equal_states(void **state)
{
	const struct replay_instance equal = replay_made_equal();
	struct fixture *f = *state;

	replay_count(f->race.replay, &equal);
	EXPECT(f, "both orders run 1 time: no state change in 1");
}

static void state_changes(void **state)
{
	const struct replay_instance equal = replay_made_equal();
	struct replay_instance change = replay_made_change();
	struct fixture *f = *state;

	replay_count(f->race.replay, &change);
	replay_count(f->race.replay, &equal);
	replay_count(f->race.replay, &change);
	EXPECT(f, "both orders run 3 times: state change in 2, no state change in 1",
	       "gt_counter is 0x29 after the first order, 0x2a after the second; 1 more difference");
	change = f->race.replay->telling;
	change.differences[0] = change.differences[1];
	change.kept = 1;
	change.difference_count = 1;
	f->race.replay->telling = change;
	EXPECT(f, "both orders run 3 times: state change in 2, no state change in 1",
	       "register rax of side 2 is 0x1 after the first order, 0x2 after the second");
}

static void one_order_in_trouble(void **state)
{
	const struct replay_instance oops = replay_made_oops(1);
	struct fixture *f = *state;

	replay_count(f->race.replay, &oops);
	EXPECT(f, "both orders run 1 time: state change in 1",
	       "second order (generic_bar+0x33 first) ends in trouble, the other one does not, in 1 of 1: " REPLAY_MADE_OOPS,
	       "gt_counter is 0x29 after the first order, 0x2a after the second; 1 more difference");
}

static void the_last_moments_are_said(void **state)
{
	struct replay_instance oops = replay_made_oops(1);
	struct fixture *f = *state;

	oops.last_moment = true;
	replay_count(f->race.replay, &oops);
	EXPECT(f, "both orders run 1 time: state change in 1; 1 from the last moments before a complaint of the kernel",
	       "second order (generic_bar+0x33 first) ends in trouble, the other one does not, in 1 of 1: " REPLAY_MADE_OOPS,
	       "gt_counter is 0x29 after the first order, 0x2a after the second; 1 more difference");
}

static void trouble_without_a_word_of_the_guests(void **state)
{
	static const struct {
		enum replay_machine machine;
		const char *says;
	} rows[] = {
		{REPLAY_MACHINE_HANG, "the machine hung"},
		{REPLAY_MACHINE_PANIC, "the kernel panicked"},
		{REPLAY_MACHINE_TRIPLE_FAULT, "the machine triple-faulted"},
		{REPLAY_MACHINE_RUNS, ""},
		{REPLAY_MACHINE_OFF, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct replay_order order = {.machine = rows[i].machine};

		assert_string_equal(replay_trouble(&order), rows[i].says);
	}
}

static void failures(void **state)
{
	const struct replay_instance deadlock = replay_made_failure(REPLAY_DEADLOCK),
				     no_copy = replay_made_failure(REPLAY_CANNOT_LOAD);
	struct fixture *f = *state;

	replay_count(f->race.replay, &deadlock);
	replay_count(f->race.replay, &no_copy);
	EXPECT(f, "both orders run 2 times: replay failure in 2; 1 of these could not be run and say nothing about the race",
	       "replay failure: deadlock: side 1 did not come to its end");
}

static void memory_without_a_name(void **state)
{
	struct replay_difference d = {.len = 4, .gpa = 0x1000, .gva = 0xffff888000001000};
	char out[REPLAY_DATUM_MAX];

	(void)state;
	replay_datum(&d, out);
	assert_string_equal(out, "memory at 0xffff888000001000");
	d.gva = 0;
	replay_datum(&d, out);
	assert_string_equal(out, "memory at physical 0x1000");
}

/* However long the texts are, a line is cut and never overrun. */
static void full_texts_fit(void **state)
{
	struct replay_instance oops = replay_made_oops(0);
	struct fixture *f = *state;

	memset(oops.orders[0].trouble, 'x', REPLAY_TEXT_MAX - 1);
	memset(oops.differences[0].name, 'y', REPLAY_NAME_MAX - 1);
	memset(f->race.site[0], 'z', SITE_NAME_MAX - 1);
	replay_count(f->race.replay, &oops);
	f->race.replay->one_troubled = f->race.replay->count[REPLAY_STATE_CHANGE] = INT64_MAX;
	f->race.replay->last_moments = INT64_MAX;
	assert_int_equal(replay_lines(&f->race, f->lines), 3);
	assert_non_null(strstr(f->lines[1], oops.orders[0].trouble));
	assert_non_null(strstr(f->lines[2], oops.differences[0].name));
}

/* ---- in a report ---- */

static void print(void *ctx, const char *text, size_t len)
{
	char *out = ctx;

	strncat(out, text, len < 65535 - strlen(out) ? len : 65535 - strlen(out));
}

static void report_prints_and_keeps_it(void **state)
{
	static const char *const site[2] = {"ext4:ext4_foo+0x1c", "generic_bar+0x33"};
	char *printed = calloc(1, 65536), *at;
	const struct report_config config = {.print = print, .print_ctx = printed};
	const struct replay_instance oops = replay_made_oops(1);
	struct err err = {0};
	struct report *r = report_new(&config, &err);
	struct observation o;

	(void)state;
	assert_non_null(r);
	sample_observation(&o, 0);
	assert_int_equal(report_replay(r, site[0], site[1], &oops, &err), 0);
	assert_string_equal(printed, "");
	assert_int_equal(report_observe(r, &o, &err), 0);
	printed[0] = '\0';
	assert_int_equal(report_replay(r, site[1], site[0], &oops, &err), 0);
	assert_non_null(strstr(printed, "RACE 24fe57074e90  ext4:ext4_foo+0x1c  <->  generic_bar+0x33\n"
					"  both orders run 1 time: state change in 1\n"));
	assert_non_null(strstr(printed, "\n  first order (ext4:ext4_foo+0x1c first) ends in trouble"));
	assert_int_equal(report_replay(r, site[0], site[1], &oops, &err), 0);
	at = strstr(printed, "both orders run 2 times");
	assert_non_null(at);
	report_free(r);
	free(printed);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_said_of_a_race_never_replayed),
		TEST(equal_states),
		TEST(state_changes),
		TEST(one_order_in_trouble),
		TEST(the_last_moments_are_said),
		TEST(trouble_without_a_word_of_the_guests),
		TEST(failures),
		TEST(memory_without_a_name),
		TEST(full_texts_fit),
		cmocka_unit_test(report_prints_and_keeps_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
