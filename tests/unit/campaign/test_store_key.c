// SPDX-License-Identifier: GPL-2.0-or-later
/* When two observations are the same race, over builds of the kernel, with debug files and without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/campaign/store/key.h"
#include "hv/race/race.h"
#include "hv/race/race_key.h"
#include "tests/unit/campaign/store_both.h"

/* ---- the key alone ---- */

/* The identity of a race. The text stays valid until the test ends. */
static const char *identity(const struct rig_race *r)
{
	static struct store_text *text;
	struct race *race = store_rig_race(r);
	struct store_key key;

	if (!text)
		text = text_new(NULL);
	store_key(race, text, &key);
	assert_false(text_failed(text, NULL));
	race_free(race);
	return key.identity;
}

static void offsets_do_not_count(void **state)
{
	(void)state;
	assert_string_equal(identity(&(struct rig_race){.offset = {0x10, 0x20}}),
			    identity(&(struct rig_race){.offset = {0x18, 0x9c}}));
}

static void functions_kinds_and_modules_count(void **state)
{
	const char *plain = identity(&(struct rig_race){.count = 1});

	(void)state;
	assert_string_equal(plain, "read reader [] <-> write writer [] on ?");
	assert_string_not_equal(plain, identity(&(struct rig_race){.function = {"other", NULL}}));
	assert_string_not_equal(plain, identity(&(struct rig_race){.both_write = true}));
	assert_string_not_equal(plain, identity(&(struct rig_race){.function = {"ext4:reader", NULL}}));
}

static void the_order_of_the_sides_does_not_count(void **state)
{
	(void)state;
	assert_string_equal(identity(&(struct rig_race){.function = {"a", "b"}, .both_write = true}),
			    identity(&(struct rig_race){.function = {"b", "a"}, .both_write = true}));
}

static void what_compilers_append_does_not_count(void **state)
{
	(void)state;
	assert_string_equal(identity(&(struct rig_race){.function = {"reader.isra.0", "ext4:writer.part.2.cold"}}),
			    identity(&(struct rig_race){.function = {"reader", "ext4:writer"}}));
}

static void a_datum_is_known_by_its_type_or_its_variable(void **state)
{
	(void)state;
	assert_string_equal(identity(&(struct rig_race){.owner = "struct rq", .path = "nr_running"}),
			    "read reader [] <-> write writer [] on struct rq.nr_running");
	assert_string_equal(identity(&(struct rig_race){.owner = "const struct rq", .path = "nr_running"}),
			    "read reader [] <-> write writer [] on struct rq.nr_running");
	assert_string_equal(
		identity(&(struct rig_race){.global = "rename_lock", .owner = "seqlock_t", .path = "seqcount.sequence"}),
		"read reader [] <-> write writer [] on rename_lock.seqcount.sequence");
	assert_string_equal(identity(&(struct rig_race){.global = "jiffies_64", .owner = "u64"}),
			    "read reader [] <-> write writer [] on jiffies_64");
	/* An anonymous type does not count as a name. */
	assert_string_equal(identity(&(struct rig_race){.owner = "struct {...}", .path = "x", .variable = "tk_core", .at = 8}),
			    "read reader [] <-> write writer [] on at tk_core+8");
	assert_string_equal(identity(&(struct rig_race){.type = "task_struct", .member = "flags"}),
			    "read reader [] <-> write writer [] on at struct task_struct.flags");
}

/* The races of every store that exists are found by these hashes. */
static void ids_stay(void **state)
{
	static const struct {
		struct rig_race race;
		const char *identity;
	} cases[] = {
		{{.owner = "struct rq", .path = "nr_running"}, "8cde4594cb94"},
		{{.variable = "tk_core", .at = 8}, "158ca04a0e5c"},
		{{.count = 1}, "7a095e776394"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct race *race = store_rig_race(&cases[i].race);
		struct race_key key;

		race_key(race, &key);
		assert_string_equal(key.identity, cases[i].identity);
		race_free(race);
	}
}

/* Without debug files the race has its alias as its identity. */
static void the_alias_is_the_identity_without_debug_files(void **state)
{
	struct race *named =
		store_rig_race(&(struct rig_race){.global = "tk_core", .path = "seq", .variable = "tk_core", .at = 8});
	struct race *placed = store_rig_race(&(struct rig_race){.variable = "tk_core", .at = 8});
	struct race *nowhere = store_rig_race(&(struct rig_race){.owner = "struct rq", .path = "clock"});
	struct race_key key, without;

	(void)state;
	race_key(named, &key);
	race_key(placed, &without);
	assert_string_not_equal(key.identity, without.identity);
	assert_string_equal(key.alias, without.identity);
	assert_string_equal(without.alias, "");
	race_key(nowhere, &key);
	assert_string_equal(key.alias, "");
	race_free(named);
	race_free(placed);
	race_free(nowhere);
}

/* ---- in a store ---- */

#define OLD "aa55"
#define NEW "aa56"

/* Store these reports in consecutive rounds. Returns the number of lines, and in *builds the number of builds of line 0. */
static size_t lines(struct fixture *f, struct rig_report *reports, size_t count, uint64_t *builds)
{
	static unsigned key;
	struct store_races races;
	char name[16];
	size_t n;

	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%u", key++);
		run_with(f, store_rig_round(f->s, "nightly", NULL), name, &reports[i]);
	}
	races = races_of(f, 0, 0);
	n = races.count;
	if (builds)
		*builds = races.list[0].builds;
	store_races_free(&races);
	return n;
}

static struct rig_report of_build(const char *build_id, const struct rig_report *report)
{
	struct rig_report r = *report;

	r.build_id = build_id;
	return r;
}

static void two_builds_are_one_line(void **state)
{
	struct fixture *f = *state;
	struct rig_report reports[] = {
		of_build(OLD, RACES({.owner = "struct rq", .path = "nr_running", .offset = {0x10, 0x20}})),
		of_build(NEW, RACES({.owner = "struct rq", .path = "nr_running", .offset = {0x14, 0x2c}})),
	};
	uint64_t builds = 0;
	struct store_races races;

	assert_int_equal(lines(f, reports, 2, &builds), 1);
	assert_int_equal(builds, 2);
	races = races_of(f, 0, 0);
	/* Two ids of 12 digits and a separator. */
	assert_int_equal(strlen(races.list[0].reports), 25);
	assert_int_equal(races.list[0].rounds, 2);
	store_races_free(&races);
}

static void two_data_are_two_lines(void **state)
{
	struct fixture *f = *state;
	struct rig_report reports[] = {
		of_build(OLD, RACES({.owner = "struct rq", .path = "nr_running", .offset = {0x10, 0x20}},
				    {.owner = "struct rq", .path = "clock", .offset = {0x30, 0x40}})),
		of_build(NEW, RACES({.owner = "struct rq", .path = "nr_running", .offset = {0x14, 0x2c}},
				    {.owner = "struct rq", .path = "clock", .offset = {0x34, 0x4c}})),
	};

	assert_int_equal(lines(f, reports, 2, NULL), 2);
}

static void two_variables_are_two_lines_without_debug_files(void **state)
{
	struct fixture *f = *state;
	struct rig_report reports[] = {
		of_build(OLD, RACES({.variable = "counts", .at = 0}, {.variable = "counts", .at = 8, .offset = {4, 4}})),
		of_build(NEW, RACES({.variable = "counts", .at = 0, .offset = {8, 8}}, {.variable = "other"})),
	};

	assert_int_equal(lines(f, reports, 2, NULL), 3);
}

/* One build has debug files, the other none. The store joins their races by the place in the guest's tables. */
static void a_place_joins(void **state)
{
	struct fixture *f = *state;
	struct rig_report reports[] = {
		of_build(OLD,
			 RACES({.global = "jiffies_64", .variable = "jiffies"},
			       {.global = "jiffies_lock", .path = "sequence", .variable = "jiffies_lock", .offset = {4, 4}})),
		of_build(NEW, RACES({.variable = "jiffies", .offset = {1, 1}}, {.variable = "jiffies_lock", .offset = {5, 5}})),
	};
	uint64_t builds = 0;

	assert_int_equal(lines(f, reports, 2, &builds), 2);
	assert_int_equal(builds, 2);
}

static void functions_join_when_there_is_one(void **state)
{
	struct fixture *f = *state;
	struct rig_report reports[] = {
		of_build(NEW, RACES({.offset = {1, 1}})),
		of_build(OLD, RACES({.owner = "struct rq", .path = "nr_running"})),
		of_build(OLD, RACES({.owner = "struct rq", .path = "clock", .offset = {8, 8}})),
	};
	struct store_races races;

	assert_int_equal(lines(f, reports, 2, NULL), 1);
	races = races_of(f, 0, 0);
	assert_string_equal(races.list[0].datum, "struct rq.nr_running");
	store_races_free(&races);
	/* Now the race may be either of the two, so it gets its own line. */
	assert_int_equal(lines(f, &reports[2], 1, NULL), 3);
}

/* A user's triage of a race without a name stays when the race gets a name. */
static void triage_goes_along(void **state)
{
	struct fixture *f = *state;
	struct rig_report bare = of_build(NEW, RACES({.offset = {1, 1}})),
			  named = of_build(OLD, RACES({.owner = "struct rq", .path = "nr_running"}));
	struct store_races races;

	lines(f, &bare, 1, NULL);
	races = races_of(f, 0, 0);
	assert_int_equal(store_triage_set(f->s, races.list[0].id, STORE_TRIAGE_WONTFIX, "a statistic", "ann", 0, &f->err), 0);
	store_races_free(&races);
	lines(f, &named, 1, NULL);
	races = races_of(f, 0, 0);
	assert_int_equal(races.count, 1);
	assert_int_equal(races.list[0].triage, STORE_TRIAGE_WONTFIX);
	store_races_free(&races);
}

static void the_order_of_runs_does_not_count(void **state)
{
	struct fixture *f = *state;
	struct rig_report reports[] = {
		of_build(OLD, RACES({.global = "jiffies_64", .variable = "jiffies"})),
		of_build(NEW, RACES({.variable = "jiffies", .offset = {1, 1}})),
		of_build(NEW, RACES({.offset = {2, 2}})),
		of_build(OLD, RACES({.variable = "jiffies", .at = 64})),
	};
	static const unsigned orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}};
	char *first = NULL;

	for (unsigned i = 0; i < 3; i++) {
		struct store_races races;
		char *said = NULL;
		size_t len;
		FILE *out;

		store_close(f->s);
		store_rig_place(&f->rig, f->kind, f->place);
		f->s = store_rig_open(f->place, STORE_MAKE);
		for (unsigned k = 0; k < 4; k++)
			lines(f, &reports[orders[i][k]], 1, NULL);
		races = races_of(f, 0, 0);
		out = open_memstream(&said, &len);
		for (size_t k = 0; k < races.count; k++)
			fprintf(out, "%s %s %lu %lu %s\n", races.list[k].name, races.list[k].datum, races.list[k].seen,
				races.list[k].builds, races.list[k].reports);
		fclose(out);
		store_races_free(&races);
		if (first) {
			assert_string_equal(first, said);
			free(said);
		} else {
			first = said;
		}
	}
	free(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_do_not_count),
		cmocka_unit_test(functions_kinds_and_modules_count),
		cmocka_unit_test(the_order_of_the_sides_does_not_count),
		cmocka_unit_test(what_compilers_append_does_not_count),
		cmocka_unit_test(a_datum_is_known_by_its_type_or_its_variable),
		cmocka_unit_test(ids_stay),
		cmocka_unit_test(the_alias_is_the_identity_without_debug_files),
		BOTH(two_builds_are_one_line),
		BOTH(two_data_are_two_lines),
		BOTH(two_variables_are_two_lines_without_debug_files),
		BOTH(a_place_joins),
		BOTH(functions_join_when_there_is_one),
		BOTH(triage_goes_along),
		BOTH(the_order_of_runs_does_not_count),
	};

	return cmocka_run_group_tests(tests, start_server, end_server);
}
