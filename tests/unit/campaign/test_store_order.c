// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of the runs of a round. It is random, favours settings that found new races lately, and contains every run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/learn/settings.h"
#include "tests/unit/campaign/store_rig.h"

#define RUNS 6u
#define ORDERS 400u

/* Two runs of each of three settings, in the order of a plan. */
static const struct learn_setting list[RUNS] = {
	{"stock", "small", "rich", "plain"}, {"stock", "small", "poor", "plain"}, {"stock", "small", "other", "plain"},
	{"stock", "small", "rich", "plain"}, {"stock", "small", "poor", "plain"}, {"stock", "small", "other", "plain"},
};

struct fixture {
	struct store_rig rig;
	char place[RIG_PLACE_MAX];
	struct store *s;
};

static int setup(void **state)
{
	static struct postgres_rig none;
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	store_rig_init(&f->rig, &none);
	store_rig_place(&f->rig, RIG_SQLITE, f->place);
	f->s = store_rig_open(f->place, STORE_MAKE);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	store_close(f->s);
	store_rig_end(&f->rig);
	free(f);
	return 0;
}

/* Store a run of this workload that found `count` new races, and one race that all runs find. */
static void run(struct fixture *f, int64_t round, const char *workload, unsigned count)
{
	static unsigned names;
	struct rig_race races[8] = {{.rule = "x"}};
	const struct rig_report report = {.races = races, .count = count + 1};
	struct store_run_plan plan = {
		.key = workload, .kernel = "stock", .image = "small", .workload = workload, .sampling = "plain"};
	struct store_run_result result = {.outcome = STORE_OK, .detail = ""};
	char function[8][24];
	struct err err = {0};
	int64_t id;

	assert_true(count < 8);
	for (unsigned i = 1; i <= count; i++) {
		snprintf(function[i], sizeof(function[i]), "found%u", names++);
		races[i] = (struct rig_race){.function = {function[i], "writer"}, .rule = "x"};
	}
	result.races = store_rig_report(&f->rig, "races.json", &report);
	if (store_run_begin(f->s, round, &plan, &id, &err) < 0 || store_run_end(f->s, id, &result, NULL, &err) < 0)
		fail_msg("%s", err.text);
}

static void order_of(struct fixture *f, int64_t round, unsigned n, size_t order[RUNS])
{
	struct err err = {0};
	char uuid[STORE_UUID_MAX], number[16];

	snprintf(number, sizeof(number), "%u", n);
	store_uuid("round", number, uuid);
	if (learn_order(f->s, "nightly", round, uuid, list, RUNS, order, &err) < 0)
		fail_msg("%s", err.text);
}

/* Count how often each of the three settings comes first in ORDERS orders. Checks that each order is complete. */
static void count_first(struct fixture *f, int64_t round, unsigned first[3])
{
	memset(first, 0, 3 * sizeof(*first));
	for (unsigned n = 0; n < ORDERS; n++) {
		size_t order[RUNS], again[RUNS];
		unsigned seen = 0, turn = 0;

		order_of(f, round, n, order);
		order_of(f, round, n, again);
		assert_memory_equal(order, again, sizeof(order));
		for (unsigned i = 0; i < RUNS; i++)
			seen |= 1u << order[i];
		assert_int_equal(seen, (1u << RUNS) - 1);
		/* Each setting comes once before any setting comes twice. */
		for (unsigned i = 0; i < 3; i++)
			turn |= 1u << order[i] % 3;
		assert_int_equal(turn, 7);
		first[order[0] % 3]++;
	}
	print_message("# first: rich %u, poor %u, other %u of %u\n", first[0], first[1], first[2], ORDERS);
}

static void at_first_any_order(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL);
	unsigned first[3];

	count_first(f, round, first);
	for (unsigned i = 0; i < 3; i++)
		assert_in_range(first[i], ORDERS / 3 - 40, ORDERS / 3 + 40);
}

static void what_finds_comes_sooner(void **state)
{
	struct fixture *f = *state;
	unsigned first[3];
	int64_t round;

	for (unsigned n = 0; n < 3; n++) {
		round = store_rig_round(f->s, "nightly", NULL);
		run(f, round, "rich", 5);
		run(f, round, "poor", 0);
	}
	round = store_rig_round(f->s, "nightly", NULL);
	count_first(f, round, first);
	/* The order treats a setting that never ran like the best setting. */
	assert_in_range(first[0], ORDERS / 4, ORDERS * 2 / 3);
	assert_in_range(first[2], ORDERS / 4, ORDERS * 2 / 3);
	assert_in_range(first[1], 1, ORDERS / 8);
}

/* A setting that finds nothing new now gets no preference for what it found long ago. */
static void long_ago_does_not_count(void **state)
{
	struct fixture *f = *state;
	unsigned first[3];
	int64_t round = store_rig_round(f->s, "nightly", NULL);

	run(f, round, "rich", 7);
	for (unsigned n = 0; n < 4; n++) {
		round = store_rig_round(f->s, "nightly", NULL);
		run(f, round, "rich", 0);
		run(f, round, "poor", 1);
		run(f, round, "other", 1);
	}
	round = store_rig_round(f->s, "nightly", NULL);
	count_first(f, round, first);
	assert_true(first[1] > 2 * first[0]);
	assert_true(first[2] > 2 * first[0]);
	assert_true(first[0] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(at_first_any_order, setup, teardown),
		cmocka_unit_test_setup_teardown(what_finds_comes_sooner, setup, teardown),
		cmocka_unit_test_setup_teardown(long_ago_does_not_count, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
