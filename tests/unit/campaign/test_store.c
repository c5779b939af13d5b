// SPDX-License-Identifier: GPL-2.0-or-later
/* The store of campaigns: rounds, runs and races go in, lists come out. Every test is run on SQLite and on PostgreSQL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "hv/campaign/learn/learn.h"
#include "hv/campaign/store/internal.h"
#include "hv/report/coverage/prefer_json.h"
#include "tests/unit/campaign/store_both.h"

static const char cover_text[] =
	"{\"schema\": \"outrider-coverage/1\", \"tool_version\": \"0.1.0\", \"complete\": true, \"seed\": \"7\", \"build_id\": "
	"\"aabbcc\", "
	"\"totals\": {\"functions\": 1, \"sites\": 2, \"pool_sites\": 4000, \"hits\": 3, \"windows\": 2, \"conflicts\": 1, "
	"\"sampled_s\": 30.0}, \"functions\": [{\"function\": \"vfs_read\", \"sites\": 32, \"armed\": [{\"site\": "
	"\"vfs_read+0x1c\", "
	"\"armed\": 4, \"hits\": 3, \"windows\": 2, \"conflicts\": 1, \"talks\": 3}, {\"site\": \"vfs_read+0x33\", \"armed\": "
	"1}]}]}";

/* The same with other functions. */
static const char cover_form[] =
	"{\"schema\": \"outrider-coverage/1\", \"tool_version\": \"0.1.0\", \"complete\": true, \"seed\": \"7\", \"build_id\": "
	"\"aabbcc\", \"totals\": {\"functions\": 1, \"sites\": 2, \"pool_sites\": 4000, \"hits\": 9, \"windows\": 9, "
	"\"conflicts\": 1, "
	"\"sampled_s\": 30.0}, \"functions\": [%s]}";

/* ---- rounds ---- */

static void rounds_are_numbered(void **state)
{
	struct fixture *f = *state;
	int64_t first = store_rig_round(f->s, "nightly", NULL), other = store_rig_round(f->s, "weekly", NULL),
		second = store_rig_round(f->s, "nightly", NULL);
	struct store_rounds rounds;

	assert_true(first != other && other != second);
	assert_int_equal(store_rounds(f->s, &(struct store_rounds_query){.campaign = "nightly"}, &rounds, &f->err), 0);
	assert_int_equal(rounds.count, 2);
	assert_int_equal(rounds.list[0].number, 1);
	assert_int_equal(rounds.list[1].number, 2);
	assert_int_equal(rounds.list[1].id, second);
	assert_int_equal(rounds.list[1].planned, 2);
	assert_int_equal(rounds.list[1].ended, 0);
	assert_string_equal(rounds.list[1].plan_hash, "0123456789abcdef");
	store_rounds_free(&rounds);
	assert_int_equal(store_rounds(f->s, &(struct store_rounds_query){.before = second, .last = 1}, &rounds, &f->err), 0);
	assert_int_equal(rounds.count, 1);
	assert_int_equal(rounds.list[0].id, other);
	store_rounds_free(&rounds);
	assert_int_equal(store_rounds(f->s, &(struct store_rounds_query){.campaign = "nightly", .name = "2"}, &rounds, &f->err),
			 0);
	assert_int_equal(rounds.count, 1);
	assert_int_equal(rounds.list[0].id, second);
	store_rounds_free(&rounds);
}

#define ASKERS 4
#define NUMBERS 25 /* that each of them asks for */

/* Ask for numbers, and write them to `out`. Every other one is that of a round that begins at once. Exits. */
static void ask_for_numbers(const char *place, int go, int out)
{
	struct store_round_plan plan = {.campaign = "nightly"};
	struct err err = {0};
	struct store *s = store_open(place, STORE_WRITE, STORE_WAIT_MS, &err);
	bool ok = s != NULL;
	char byte;

	/* All begin when the last one is there. */
	ok = ok && read(go, &byte, 1) == 0;
	for (unsigned i = 0; i < NUMBERS && ok; i++) {
		struct store_rounds begun = {0};
		uint64_t number = 0;

		if (i % 2) {
			ok = store_round_begin(s, &plan, &begun, &err) == 0;
			number = ok ? begun.list[0].number : 0;
			store_rounds_free(&begun);
		} else {
			ok = store_round_number(s, "nightly", &number, &err) == 0;
		}
		ok = ok && write(out, &number, sizeof(number)) == sizeof(number);
	}
	if (!ok)
		fprintf(stderr, "%s\n", err.text);
	store_close(s);
	_exit(!ok);
}

static void no_two_are_given_one_number(void **state)
{
	bool given[ASKERS * NUMBERS + 1] = {false};
	struct fixture *f = *state;
	int go[2], out[2], status;
	uint64_t number;

	assert_int_equal(pipe(go) + pipe(out), 0);
	for (unsigned i = 0; i < ASKERS; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid)
			continue;
		close(go[1]);
		ask_for_numbers(f->place, go[0], out[1]);
	}
	close(go[1]);
	close(out[1]);
	while (read(out[0], &number, sizeof(number)) == sizeof(number)) {
		assert_in_range(number, 1, ASKERS * NUMBERS);
		assert_false(given[number]);
		given[number] = true;
	}
	for (unsigned i = 0; i < ASKERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	for (unsigned i = 1; i <= ASKERS * NUMBERS; i++)
		assert_true(given[i]);
	close(go[0]);
	close(out[0]);
	/* Other campaigns count for themselves. */
	assert_int_equal(store_round_number(f->s, "weekly", &number, &f->err), 0);
	assert_int_equal(number, 1);
}

static void a_number_is_of_one_round(void **state)
{
	struct fixture *f = *state;
	struct store_round_plan plan = {.campaign = "nightly", .uuid = "00112233445566778899aabbccddeeff", .number = 1};
	struct store_rounds rounds;

	store_rig_round(f->s, "nightly", NULL);
	assert_int_equal(store_round_begin(f->s, &plan, &rounds, &f->err), -1);
	assert_int_equal(f->err.code, EXIT_USAGE);
	assert_non_null(strstr(f->err.text, "round 1 of nightly was begun without --round"));
	f->err = (struct err){0};
	plan.number = STORE_NUMBER_MAX;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(store_round_begin(f->s, &plan, &rounds, &f->err), 0);
		assert_int_equal(rounds.list[0].number, STORE_NUMBER_MAX);
		store_rounds_free(&rounds);
	}
	plan = (struct store_round_plan){.campaign = "nightly"};
	assert_int_equal(store_round_begin(f->s, &plan, &rounds, &f->err), -1);
	assert_int_equal(f->err.code, EXIT_INPUT);
	assert_non_null(strstr(f->err.text, "give one with --round"));
}

static void an_attempt_that_was_cut_off_is_no_run_of_the_plan(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL);
	struct store_rounds rounds;

	store_rig_run(f->s, round, "stock/small/files/plain/#1~1", NULL, NULL);
	store_rig_run(f->s, round, "stock/small/files/plain/#1~2", NULL, NULL);
	store_rig_run(f->s, round, "stock/small/files/plain/#1", NULL, NULL);
	assert_int_equal(store_rounds(f->s, &(struct store_rounds_query){.id = round}, &rounds, &f->err), 0);
	assert_int_equal(rounds.list[0].planned, 2);
	assert_int_equal(rounds.list[0].begun, 1);
	assert_int_equal(rounds.list[0].done, 1);
	assert_int_equal(rounds.list[0].ends.ended, 1);
	assert_int_equal(rounds.list[0].ends.of_failure[STORE_UNSAMPLED], 1);
	assert_int_equal(rounds.list[0].cut_off, 2);
	store_rounds_free(&rounds);
}

/* Many rounds are counted by another statement than one. */
static void many_rounds_are_counted_as_each(void **state)
{
	enum { ROUNDS = 20 };
	static const char *const readers[] = {"a_r", "b_r", "c_r", "d_r", "e_r"};
	struct fixture *f = *state;
	struct store_rounds all, one;

	for (unsigned i = 0; i < ROUNDS; i++) {
		int64_t round = store_rig_round(f->s, i % 3 ? "nightly" : "weekly", NULL);
		struct rig_race race = {.function = {readers[i * 7 % 5], "w"},
					.class = i % 4 < 2 ? VERDICT_HARMFUL : VERDICT_BENIGN,
					.rule = "x",
					.rank = 50};
		struct rig_race other = {.function = {readers[i / 4], "w"}, .class = VERDICT_UNCLEAR, .rule = "y", .rank = 40};

		run_with(f, round, "a", RACES(race));
		run_with(f, round, "b", RACES(other));
	}
	assert_int_equal(store_rounds(f->s, &(struct store_rounds_query){0}, &all, &f->err), 0);
	assert_int_equal(all.count, ROUNDS);
	for (size_t i = 0; i < all.count; i++) {
		const struct store_round *a = &all.list[i], *b;

		assert_int_equal(store_rounds(f->s, &(struct store_rounds_query){.id = a->id}, &one, &f->err), 0);
		b = &one.list[0];
		assert_true(a->races > 0);
		assert_int_equal(a->races, b->races);
		assert_int_equal(a->new_races, b->new_races);
		assert_memory_equal(a->of_class, b->of_class, sizeof(a->of_class));
		store_rounds_free(&one);
	}
	assert_true(all.list[0].new_races > 0);
	store_rounds_free(&all);
}

static void a_round_ends_with_its_last_shard(void **state)
{
	struct fixture *f = *state;
	struct store_round_plan plan = {.campaign = "nightly", .uuid = "00112233445566778899aabbccddeeff", .shard = "1/2"};
	struct store_rounds_query unfinished = {.unfinished = true, .shard = "2/2"};
	struct store_rounds rounds;
	int64_t id;

	assert_int_equal(store_round_begin(f->s, &plan, &rounds, &f->err), 0);
	id = rounds.list[0].id;
	store_rounds_free(&rounds);
	plan.shard = "2/2";
	assert_int_equal(store_round_begin(f->s, &plan, &rounds, &f->err), 0);
	assert_int_equal(rounds.list[0].id, id);
	assert_int_equal(rounds.list[0].number, 1);
	store_rounds_free(&rounds);
	assert_int_equal(store_round_end(f->s, id, "1/2", &f->err), 0);
	assert_int_equal(store_rounds(f->s, &unfinished, &rounds, &f->err), 0);
	assert_int_equal(rounds.count, 1);
	assert_int_equal(rounds.list[0].ended, 0);
	store_rounds_free(&rounds);
	assert_int_equal(store_round_end(f->s, id, "2/2", &f->err), 0);
	assert_int_equal(store_rounds(f->s, &unfinished, &rounds, &f->err), 0);
	assert_int_equal(rounds.count, 0);
	store_rounds_free(&rounds);
	assert_int_equal(store_rounds(f->s, &(struct store_rounds_query){.id = id}, &rounds, &f->err), 0);
	assert_true(rounds.list[0].ended > 0);
	store_rounds_free(&rounds);
}

/* ---- runs ---- */

static void a_run_is_stored_once(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL);
	const char *path =
		store_rig_report(&f->rig, "races.json", RACES({.count = 12, .rule = "lock-on-one-side", .rank = 75}));
	int64_t run = store_rig_run(f->s, round, "a", path, NULL);
	struct store_run_result again = {.outcome = STORE_PANIC, .races = path};
	struct store_run_plan plan = {.key = "a"};
	char *before = store_rig_dump(f->s), *after;
	int64_t same = 0;

	assert_int_equal(store_run_end(f->s, run, &again, NULL, &f->err), 1);
	assert_int_equal(store_run_begin(f->s, round, &plan, &same, &f->err), 1);
	assert_int_equal(same, run);
	after = store_rig_dump(f->s);
	assert_string_equal(before, after);
	assert_non_null(strstr(after, " 12 1 from "));
	free(before);
	free(after);
}

static void a_run_says_what_it_was(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL), id;
	struct store_finding findings[] = {{"panic", "Kernel panic - not syncing: <\x1b[31m>", "console.log"},
					   {"crash", "", ""}};
	struct store_run_plan plan = {.key = "k/i/w/s/1", .command = "outrider run --append 'a b'", .seed = UINT64_MAX};
	struct store_run_result result = {
		.outcome = STORE_PANIC, .detail = "the guest panicked", .findings = findings, .finding_count = 2};
	struct store_findings found;
	struct store_runs runs;

	result.races = store_rig_report(&f->rig, "races.json", RACES({.count = 1}, {.function = {"a", "b"}}));
	assert_int_equal(store_run_begin(f->s, round, &plan, &id, &f->err), 0);
	assert_int_equal(store_runs(f->s, round, &runs, &f->err), 0);
	assert_int_equal(runs.list[0].state, STORE_RUNNING);
	store_runs_free(&runs);
	assert_int_equal(store_run_end(f->s, id, &result, NULL, &f->err), 0);
	assert_int_equal(store_runs(f->s, round, &runs, &f->err), 0);
	assert_int_equal(runs.count, 1);
	assert_int_equal(runs.list[0].state, STORE_DONE);
	assert_int_equal(runs.list[0].outcome, STORE_PANIC);
	assert_true(runs.list[0].seed == UINT64_MAX);
	assert_string_equal(runs.list[0].build_id, "aabbcc");
	assert_int_equal(runs.list[0].hits, 100);
	assert_int_equal(runs.list[0].races, 2);
	assert_int_equal(runs.list[0].new_races, 2);
	/* 0.4 s of 2 CPUs' 10 s. */
	assert_int_equal(runs.list[0].lost_permille, 20);
	store_runs_free(&runs);
	assert_int_equal(store_findings(f->s, round, &found, &f->err), 0);
	assert_int_equal(found.count, 2);
	assert_string_equal(found.list[0].line, "Kernel panic - not syncing: <\\x1b[31m>");
	assert_true(found.list[0].is_new);
	assert_string_equal(found.list[1].kind, "crash");
	store_findings_free(&found);
}

static void a_wrong_file_changes_nothing(void **state)
{
	static const char wrong[] = "{\"schema\": \"outrider-races/1\", \"races\": [{}]}";
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL), id;
	struct store_run_plan plan = {.key = "a"};
	struct store_run_result result = {.outcome = STORE_OK};
	char *before, *after;
	enum store_bad bad;

	assert_int_equal(store_run_begin(f->s, round, &plan, &id, &f->err), 0);
	before = store_rig_dump(f->s);
	result.races = strdup(store_rig_file(&f->rig, "races.json", wrong));
	result.coverage = strdup(store_rig_file(&f->rig, "coverage.json", cover_text));
	assert_int_equal(store_run_end(f->s, id, &result, &bad, &f->err), -1);
	assert_int_equal(bad, STORE_BAD_RACES);
	assert_int_equal(f->err.code, EXIT_INPUT);
	assert_non_null(strstr(f->err.text, "races.json: race 1"));
	after = store_rig_dump(f->s);
	assert_string_equal(before, after);
	free(after);
	/* The other file is as good without it. */
	f->err = (struct err){0};
	free((char *)result.races);
	result.races = NULL;
	assert_int_equal(store_run_end(f->s, id, &result, &bad, &f->err), 0);
	assert_int_equal(bad, STORE_BAD_NONE);
	after = store_rig_dump(f->s);
	assert_non_null(strstr(after, " site vfs_read+0x1c 4 3 2 1 3 1\n"));
	free((char *)result.coverage);
	free(before);
	free(after);
}

static void wrong_coverage_is_told_apart(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL), id;
	struct store_run_plan plan = {.key = "a"};
	struct store_run_result result = {.outcome = STORE_OK};
	enum store_bad bad;

	assert_int_equal(store_run_begin(f->s, round, &plan, &id, &f->err), 0);
	result.races = strdup(store_rig_report(&f->rig, "races.json", RACES({.rule = "x"})));
	result.coverage = strdup(store_rig_file(&f->rig, "coverage.json", "{}"));
	assert_int_equal(store_run_end(f->s, id, &result, &bad, &f->err), -1);
	assert_int_equal(bad, STORE_BAD_COVERAGE);
	assert_int_equal(f->err.code, EXIT_INPUT);
	assert_non_null(strstr(f->err.text, "coverage.json"));
	free((char *)result.races);
	free((char *)result.coverage);
}

static void races_of_a_killed_run_are_judged(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL);
	struct rig_report report = *RACES({.count = 1});
	struct store_races races;

	report.killed = true;
	run_with(f, round, "a", &report);
	races = races_of(f, round, 0);
	assert_int_equal(races.count, 1);
	assert_true(races.list[0].verdict.rule[0] && races.list[0].verdict.evidence[0]);
	store_races_free(&races);
}

/* ---- what changes ---- */

static void changes_are_told(void **state)
{
	struct fixture *f = *state;
	const struct rig_race same = {.function = {"same_r", "same_w"}, .rule = "no-pattern", .rank = 70},
			      gone = {.function = {"gone_r", "gone_w"}, .rule = "no-pattern", .rank = 70},
			      was = {.function = {"moody_r", "moody_w"},
				     .rule = "approximate",
				     .class = VERDICT_BENIGN,
				     .rank = 5},
			      is = {.function = {"moody_r", "moody_w"}, .rule = "no-pattern", .rank = 71},
			      rare = {.function = {"rare_r", "rare_w"}, .rule = "no-pattern", .rank = 70},
			      fresh = {.function = {"fresh_r", "fresh_w"}, .rule = "no-pattern", .rank = 70};
	static const char *const expected[][2] = {
		{"new", "fresh_r"}, {"changed", "moody_r"}, {"gone", "gone_r"}, {"again", "rare_r"}, {"same", "same_r"},
	};
	int64_t first = store_rig_round(f->s, "nightly", NULL), second, third;
	struct store_races races;

	run_with(f, first, "a", RACES(rare, same));
	second = store_rig_round(f->s, "nightly", NULL);
	run_with(f, second, "a", RACES(same, gone, was));
	third = store_rig_round(f->s, "nightly", NULL);
	run_with(f, third, "a", RACES(same, is, rare, fresh));
	races = races_of(f, third, 0);
	assert_int_equal(races.count, 5);
	for (size_t i = 0; i < races.count; i++) {
		assert_string_equal(store_change_word(races.list[i].change), expected[i][0]);
		assert_string_equal(races.list[i].sides[0].function, expected[i][1]);
	}
	assert_int_equal(races.list[1].before.class, VERDICT_BENIGN);
	assert_int_equal(races.list[4].first_round, 1);
	assert_int_equal(races.list[4].earlier, 2);
	store_races_free(&races);
	/* Since the first round, what came with the second is new, too. */
	races = races_of(f, third, first);
	assert_int_equal(races.count, 5);
	for (size_t i = 0; i < races.count; i++) {
		bool is_new = races.list[i].change == STORE_CHANGE_NEW, is_old = races.list[i].first_round == 1;

		assert_true(is_new != is_old);
	}
	store_races_free(&races);
	/* The list of the second round is what it was that morning. */
	races = races_of(f, second, 0);
	assert_int_equal(races.count, 4);
	assert_string_equal(store_change_word(races.list[3].change), "same");
	assert_int_equal(races.list[0].last_round, 2);
	store_races_free(&races);
}

static void the_weightiest_verdict_counts(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL);
	struct store_races races;

	run_with(f, round, "a", RACES({.rule = "approximate", .class = VERDICT_BENIGN, .rank = 5, .count = 3}));
	run_with(f, round, "b", RACES({.rule = "no-pattern", .class = VERDICT_HARMFUL, .rank = 70, .count = 4}));
	run_with(f, round, "c", RACES({.rule = "unsure", .class = VERDICT_UNCLEAR, .rank = 40}));
	races = races_of(f, round, 0);
	assert_int_equal(races.count, 1);
	assert_int_equal(races.list[0].verdict.class, VERDICT_HARMFUL);
	assert_string_equal(races.list[0].verdict.rule, "no-pattern");
	assert_int_equal(races.list[0].seen, 8);
	assert_int_equal(races.list[0].runs, 3);
	store_races_free(&races);
}

static void a_fixed_race_comes_back(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL), race;
	struct store_races races;
	struct store_history history;

	run_with(f, round, "a", RACES({.rule = "no-pattern"}));
	races = races_of(f, round, 0);
	race = races.list[0].id;
	store_races_free(&races);
	assert_int_equal(store_triage_set(f->s, race, STORE_TRIAGE_KNOWN, "seen by \xc3\x84nne", "ann", 0, &f->err), 0);
	assert_int_equal(store_triage_set(f->s, race, STORE_TRIAGE_FIXED, "commit 1234", "bob", 0, &f->err), 0);
	/* It was seen before it was said to be fixed. */
	races = races_of(f, round, 0);
	assert_int_equal(races.list[0].change, STORE_CHANGE_NEW);
	assert_int_equal(races.list[0].triage, STORE_TRIAGE_FIXED);
	assert_string_equal(races.list[0].note, "commit 1234");
	assert_string_equal(races.list[0].who, "bob");
	store_races_free(&races);
	usleep(5000);
	round = store_rig_round(f->s, "nightly", NULL);
	run_with(f, round, "a", RACES({.rule = "no-pattern"}));
	races = races_of(f, round, 0);
	assert_int_equal(races.list[0].change, STORE_CHANGE_BACK);
	store_races_free(&races);
	assert_int_equal(store_history(f->s, race, &history, &f->err), 0);
	assert_int_equal(history.count, 2);
	assert_int_equal(history.list[0].triage, STORE_TRIAGE_KNOWN);
	assert_string_equal(history.list[0].note, "seen by \xc3\x84nne");
	assert_true(history.list[0].at < history.list[1].at);
	store_history_free(&history);
}

/* Only a kernel with the fix that sees the race again makes the race come back. */
static void a_mend_has_versions(void **state)
{
	static const char *const mended[] = {"6.1.115", "5.10.230"};
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL), race;
	struct store_history history;
	struct store_races races;

	run_with(f, round, "a", RACES({.rule = "no-pattern"}));
	races = races_of(f, round, 0);
	race = races.list[0].id;
	assert_string_equal(races.list[0].mended, "");
	store_races_free(&races);
	assert_int_equal(store_mend_set(f->s, race, mended, 2, "by the patch", "ann", 0, &f->err), 0);
	assert_int_equal(store_history(f->s, race, &history, &f->err), 0);
	assert_string_equal(history.list[0].mended, "5.10.230, 6.1.115");
	store_history_free(&history);
	races = races_of(f, round, 0);
	assert_int_equal(races.list[0].triage, STORE_TRIAGE_FIXED);
	assert_string_equal(races.list[0].mended, "5.10.230, 6.1.115");
	store_races_free(&races);
	/* A later word holds, and has no versions. */
	assert_int_equal(store_triage_set(f->s, race, STORE_TRIAGE_FIXED, "", "ann", 0, &f->err), 0);
	races = races_of(f, round, 0);
	assert_string_equal(races.list[0].mended, "");
	store_races_free(&races);
}

/* The versions are of the entry that was given, also if an entry of a machine whose clock is ahead has a later time. */
static void a_mend_has_its_own_versions(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL), race, ahead = realtime_ms() + 3600000;
	struct store_history history;
	struct store_races races;

	run_with(f, round, "a", RACES({.rule = "no-pattern"}));
	races = races_of(f, round, 0);
	race = races.list[0].id;
	store_races_free(&races);
	assert_int_equal(store_triage_set(f->s, race, STORE_TRIAGE_FIXED, "ahead", "bob", ahead, &f->err), 0);
	assert_int_equal(store_mend_set(f->s, race, (const char *[]){"6.1.115"}, 1, "by the patch", "ann", 0, &f->err), 0);
	assert_int_equal(store_history(f->s, race, &history, &f->err), 0);
	assert_int_equal(history.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(history.list[i].mended, strcmp(history.list[i].who, "ann") == 0 ? "6.1.115" : "");
	/* What the user said last holds. */
	assert_string_equal(history.list[1].who, "ann");
	store_history_free(&history);
}

static void a_race_is_found_by_its_id(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL), race = 0;
	struct store_races races;
	char start[8], *record;

	run_with(f, round, "a", RACES({.function = {"a", "b"}, .rule = "x"}, {.function = {"c", "d"}, .rule = "x"}));
	races = races_of(f, round, 0);
	snprintf(start, sizeof(start), "%.6s", races.list[1].name);
	assert_int_equal(store_race_find(f->s, start, &race, &f->err), 0);
	assert_int_equal(race, races.list[1].id);
	assert_int_equal(store_race_find(f->s, races.list[0].reports, &race, &f->err), 0);
	assert_int_equal(race, races.list[0].id);
	record = store_race_record(f->s, race, false, &f->err);
	assert_non_null(record);
	assert_non_null(strstr(record, races.list[0].reports));
	free(record);
	store_races_free(&races);
	assert_int_equal(store_race_find(f->s, "ffffffffffff", &race, &f->err), -1);
	assert_int_equal(f->err.code, EXIT_USAGE);
	f->err = (struct err){0};
	assert_int_equal(store_race_find(f->s, "%", &race, &f->err), -1);
}

/* ---- coverage ---- */

/* The windows at a race's sites are told apart by whether a selected round had them. A site of another race does not count. */
static void windows_at_the_sites_of_a_race_are_counted(void **state)
{
	static const char *const cover[] = {
		"{\"function\": \"reader\", \"sites\": 5, \"armed\": [{\"site\": \"reader+0x10\", \"armed\": 1, \"hits\": 9, "
		"\"windows\": 7}]}",
		"{\"function\": \"writer\", \"sites\": 5, \"armed\": [{\"site\": \"writer+0x20\", \"armed\": 1, \"hits\": 9, "
		"\"windows\": 4}, "
		"{\"site\": \"writer+0x30\", \"armed\": 1, \"hits\": 9, \"windows\": 5}]}",
	};
	struct fixture *f = *state;
	struct store_races_query q = {0};
	struct store_effort effort = {0};
	struct store_races races;
	int64_t first = 0;
	char *text;

	for (int i = 0; i < 3; i++) {
		const char *report = strdup(store_rig_report(
			&f->rig, "races.json", RACES({.rule = "x", .offset = {i == 2 ? 0x40 : 0x10, i == 2 ? 0x50 : 0x20}})));

		q.round = store_rig_round(f->s, "nightly", NULL);
		first = first ? first : q.round;
		assert_true(asprintf(&text, cover_form, i == 1 ? cover[1] : cover[0]) > 0);
		for (int run = 0; run < 2; run++)
			store_rig_run(f->s, q.round, run ? "b" : "a", report, store_rig_file(&f->rig, "coverage.json", text));
		free(text);
		free((char *)report);
	}
	races = races_of(f, q.round, 0);
	effort.race = races.list[0].id;
	store_races_free(&races);
	/* reader+0x10: 7 windows in both runs of the first and of the third round; writer+0x20: 4 in both of the second. */
	assert_int_equal(store_efforts(f->s, &q, &effort, 1, &f->err), 0);
	assert_int_equal(effort.since, 14);
	assert_int_equal(effort.before, 14 + 8);
	q.since = first;
	assert_int_equal(store_efforts(f->s, &q, &effort, 1, &f->err), 0);
	assert_int_equal(effort.since, 14 + 8);
	assert_int_equal(effort.before, 14);
	assert_int_equal(store_efforts(f->s, &q, NULL, 0, &f->err), 0);
}

static void coverage_is_summed(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL);
	const char *races = strdup(store_rig_report(&f->rig, "races.json", RACES({.rule = "x"})));
	struct store_coverage c;
	struct store_pairs p;
	char *dump;

	for (int i = 0; i < 2; i++)
		store_rig_run(f->s, round, i ? "b" : "a", races, store_rig_file(&f->rig, "coverage.json", cover_text));
	dump = store_rig_dump(f->s);
	assert_non_null(strstr(dump, " site vfs_read+0x1c 8 6 4 2 6 2\n"));
	assert_non_null(strstr(dump, " site vfs_read+0x33 2 0 0 0 0 2\n"));
	free(dump);
	assert_int_equal(store_coverage(f->s, "nightly", 0, &c, &f->err), 0);
	assert_int_equal(c.count, 2);
	assert_int_equal(c.list[0].sites_armed, 2);
	assert_int_equal(c.list[0].sites_hit, 1);
	assert_int_equal(c.list[0].once, 1);
	assert_int_equal(c.list[1].once, 0);
	assert_int_equal(c.list[1].twice, 1);
	assert_int_equal(c.list[1].pool, 4000);
	assert_int_equal(c.list[1].sampled_ns, 20000000000);
	store_coverage_free(&c);
	assert_int_equal(store_pairs(f->s, "aabbcc", 0, &p, &f->err), 0);
	assert_int_equal(p.observed, 1);
	assert_int_equal(p.twice, 1);
	assert_int_equal(p.runs, 2);
	free((char *)races);
}

/* The first pair is counted, and ends it. */
static int one_pair(void *ctx, const struct store_pair *pair)
{
	uint64_t *runs = ctx;

	assert_string_equal(pair->site[0], "vfs_read+0x1c");
	assert_string_equal(pair->site[1], "writer+0x20");
	*runs += pair->runs;
	return 7;
}

static void pairs_are_told(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL);
	const struct rig_report *report = RACES({.function = {"vfs_read", "writer"}, .offset = {0x1c, 0x20}, .rule = "x"});
	uint64_t runs = 0;

	run_with(f, round, "a", report);
	run_with(f, round, "b", report);
	assert_int_equal(store_each_pair(f->s, "aabbcc", one_pair, &runs, &f->err), 7);
	assert_int_equal(runs, 2);
	assert_int_equal(store_each_pair(f->s, "ddeeff", one_pair, &runs, &f->err), 0);
	assert_int_equal(runs, 2);
}

/* What a run is told to prefer is made of what is stored. */
static void runs_teach(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL);
	const struct rig_report *report = RACES({.function = {"vfs_read", "writer"}, .offset = {0x1c, 0x20}, .rule = "x"});
	char *races = strdup(store_rig_report(&f->rig, "races.json", report));
	char *path = strdup(store_rig_file(&f->rig, "prefer.json", ""));
	struct prefer_weights w;
	struct prefer *p;

	store_rig_run(f->s, round, "a", races, store_rig_file(&f->rig, "coverage.json", cover_text));
	assert_int_equal(learn_prefer(f->s, "ddeeff", path, &f->err), 1);
	assert_int_equal(learn_prefer(f->s, "aabbcc", path, &f->err), 0);
	p = prefer_load(path, &f->err);
	if (!p)
		fail_msg("%s", f->err.text);
	assert_true(prefer_is_for(p, (const uint8_t *)"\xaa\xbb\xcc", 3));
	w = prefer_find(p, "vfs_read");
	assert_int_equal(w.count, 2);
	assert_true(prefer_weight(&w, 0x1c) > PREFER_ONE);
	/* What stands beside a site that has raced shows more that is new than the site itself. */
	assert_true(prefer_weight(&w, 0x33) > prefer_weight(&w, 0x1c));
	prefer_free(p);
	assert_int_equal(learn_prefer(f->s, "aabbcc", "/nowhere/prefer.json", &f->err), -1);
	assert_int_equal(f->err.code, EXIT_INPUT);
	free(races);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(rounds_are_numbered),
		BOTH(no_two_are_given_one_number),
		BOTH(a_number_is_of_one_round),
		BOTH(an_attempt_that_was_cut_off_is_no_run_of_the_plan),
		BOTH(many_rounds_are_counted_as_each),
		BOTH(a_round_ends_with_its_last_shard),
		BOTH(a_run_is_stored_once),
		BOTH(a_run_says_what_it_was),
		BOTH(a_wrong_file_changes_nothing),
		BOTH(wrong_coverage_is_told_apart),
		BOTH(races_of_a_killed_run_are_judged),
		BOTH(changes_are_told),
		BOTH(the_weightiest_verdict_counts),
		BOTH(a_fixed_race_comes_back),
		BOTH(a_mend_has_versions),
		BOTH(a_mend_has_its_own_versions),
		BOTH(a_race_is_found_by_its_id),
		BOTH(windows_at_the_sites_of_a_race_are_counted),
		BOTH(coverage_is_summed),
		BOTH(pairs_are_told),
		BOTH(runs_teach),
	};

	return cmocka_run_group_tests(tests, start_server, end_server);
}
