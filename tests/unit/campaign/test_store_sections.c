// SPDX-License-Identifier: GPL-2.0-or-later
/* The atomicity suspicions of a report as races of the store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/campaign/store/sections.h"
#include "hv/race/race_key.h"

#define IDENTITY "section change [] <-> two sections enqueue [gt] on at gt_limit+0x40"

/* A run's report: enqueue() of the module gt has two sections, and change() of the kernel comes in between. */
struct bench {
	struct prot_function functions[3];
	struct prot_access accesses[3];
	struct prot_lock lock;
	struct protection protection;
	struct suspicion list[2];
	struct lock_record locks;
	struct run_data d;
};

static int set_up(void **state)
{
	static const char *const names[] = {"gt:enqueue.isra.0", "change"};
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	for (unsigned i = 0; i < 2; i++)
		strcpy(b->functions[i].name, names[i]);
	for (unsigned i = 0; i < 3; i++) {
		b->accesses[i] = (struct prot_access){.function = i == 2, .first_ns = 100 * (3 - i), .last_ns = 1000 + i};
		strcpy(b->accesses[i].name, "gt_limit+0x40");
	}
	b->protection = (struct protection){.functions = b->functions,
					    .function_count = 2,
					    .accesses = b->accesses,
					    .access_count = 3,
					    .locks = &b->lock,
					    .lock_count = 1};
	b->list[0] = (struct suspicion){.kind = SUSPICION_UNPROTECTED, .id = "0123456789ab"};
	b->list[1] = (struct suspicion){.kind = SUSPICION_ATOMICITY,
					.pattern = ATOMICITY_UPDATE,
					.id = "ba9876543210",
					.side = {0, 1},
					.between = 2,
					.held = 5,
					.total = 40,
					.rank = 70,
					.verdict = SECTION_VERDICT_UNKNOWN,
					.text = "gt_limit+0x40: read-then-update in enqueue()"};
	b->locks = (struct lock_record){.protection = &b->protection, .suspicions = {.list = b->list, .count = 2}};
	assert_int_equal(run_data_init(&b->d, &(struct err){0}), 0);
	b->d.races = calloc(2, sizeof(*b->d.races));
	assert_non_null(b->d.races);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	run_data_free(&b->d);
	free(b);
	return 0;
}

/* Returns the only race of the record. */
static const struct run_data_race *take(struct bench *b)
{
	b->d.race_count = 0;
	free(b->d.races[0].record);
	assert_int_equal(run_data_take_sections(&b->d, &b->locks, &(struct err){0}), 0);
	assert_false(text_failed(b->d.text, NULL));
	assert_int_equal(b->d.race_count, 1);
	return &b->d.races[0];
}

static void a_suspicion_becomes_a_race_of_sections(void **state)
{
	const struct run_data_race *r = take(*state);
	char name[RACE_ID_MAX];

	assert_string_equal(r->key.identity, IDENTITY);
	race_key_identity(IDENTITY, name);
	assert_string_equal(r->key.name, name);
	assert_string_equal(r->report, "ba9876543210");
	assert_string_equal(r->key.datum, "");
	assert_string_equal(r->site[0], "");
	assert_string_equal(r->site[1], "");
	assert_int_equal(r->seen, 5);
	/* All three accesses were sampled from then on. */
	assert_int_equal(r->first_ns, 300);
	assert_int_equal(r->last_ns, 1002);
	assert_non_null(r->record);
}

static void a_copy_makes_it_harmful(void **state)
{
	static const enum verdict_class classes[SECTION_VERDICTS] = {VERDICT_UNCLEAR, VERDICT_UNCLEAR, VERDICT_UNCLEAR,
								     VERDICT_HARMFUL};
	struct bench *b = *state;

	for (unsigned i = 0; i < SECTION_VERDICTS; i++) {
		const struct store_verdict *v;

		b->list[1].verdict = (enum section_verdict)i;
		v = &take(b)->verdict;
		assert_int_equal(v->class, classes[i]);
		assert_int_equal(v->rank, 70);
		assert_string_equal(v->rule, "read-then-update");
		assert_string_equal(v->evidence, b->list[1].text);
		assert_string_equal(v->suppressed, "");
	}
}

/* A report is not trusted. */
static void a_rank_has_bounds(void **state)
{
	struct bench *b = *state;

	b->list[1].rank = 1000;
	assert_int_equal(take(b)->verdict.rank, 99);
	b->list[1].rank = -1;
	assert_int_equal(take(b)->verdict.rank, 0);
}

/* Which function has the two sections is a part of the identity, also if both sides are one function. */
static void the_roles_count(void **state)
{
	struct bench *b = *state;

	b->accesses[0].function = b->accesses[1].function = 1;
	b->accesses[2].function = 0;
	assert_string_equal(take(b)->key.identity, "two sections change [] <-> section enqueue [gt] on at gt_limit+0x40");
	b->accesses[2].function = 1;
	assert_string_equal(take(b)->key.identity, "section change [] <-> two sections change [] on at gt_limit+0x40");
}

/* Two sections in called functions belong to the function that made both. */
static void the_caller_has_the_sections(void **state)
{
	struct bench *b = *state;

	b->protection.function_count = 3;
	strcpy(b->functions[2].name, "gt:add");
	b->list[1].caller = 3;
	assert_string_equal(take(b)->key.identity, "two sections add [gt] <-> section change [] on at gt_limit+0x40");
}

static void code_and_data_without_names(void **state)
{
	struct bench *b = *state;

	b->accesses[0].function = b->accesses[2].function = PROTECTION_NONE;
	strcpy(b->accesses[0].site, "raw+0xffffffff81000010");
	strcpy(b->accesses[2].site, "image+0x10");
	b->accesses[1].name[0] = '\0';
	assert_string_equal(take(b)->key.identity, "section image+0x10 [] <-> two sections raw [] on ?");
}

static void without_locks_there_is_nothing(void **state)
{
	struct bench *b = *state;

	assert_int_equal(run_data_take_sections(&b->d, &(struct lock_record){0}, &(struct err){0}), 0);
	assert_int_equal(b->d.race_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_suspicion_becomes_a_race_of_sections, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_copy_makes_it_harmful, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_rank_has_bounds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_roles_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_caller_has_the_sections, set_up, tear_down),
		cmocka_unit_test_setup_teardown(code_and_data_without_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_locks_there_is_nothing, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
