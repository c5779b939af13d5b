// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores are merged, whatever kind each is of, and old rounds are folded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/campaign/store/coverage_sum.h"
#include "tests/unit/campaign/store_both.h"

#define ROUND_1 "11111111111111111111111111111111"
#define ROUND_2 "22222222222222222222222222222222"

static char *coverage(const char *function, int hits)
{
	char *text = NULL;

	assert_true(asprintf(&text,
			     "{\"schema\": \"outrider-coverage/1\", \"tool_version\": \"0.1.0\", \"complete\": true, \"seed\": "
			     "\"7\", "
			     "\"build_id\": \"aabbcc\", \"totals\": {\"functions\": 1, \"sites\": 2, \"pool_sites\": 4000, "
			     "\"hits\": 3, "
			     "\"windows\": 2, \"conflicts\": 1, \"sampled_s\": 30.0}, \"functions\": [{\"function\": \"%s\", "
			     "\"sites\": 32, \"armed\": [{\"site\": \"%s+0x1c\", \"armed\": 4, \"hits\": %d}, {\"site\": "
			     "\"%s+0x33\", "
			     "\"armed\": 1}]}]}",
			     function, function, hits, function) > 0);
	return text;
}

/* One of the runs that all stores of these tests are made of: the same in whatever store, at the same time. */
struct made_run {
	const char *round, *key;
	int64_t started;
	struct rig_report *report;
	const char *function; /* that was covered */
};

static struct rig_report both_races = {
	.races =
		(const struct rig_race[]){
			{.global = "jiffies_64", .variable = "jiffies", .rule = "no-pattern", .rank = 70, .count = 3},
			{.function = {"x", "y"}, .rule = "approximate", .class = VERDICT_BENIGN, .rank = 4}},
	.count = 2};
static struct rig_report bare_race = {
	.build_id = "ddeeff",
	.banner = "Linux version 6.1.0-56-cloud-amd64 (debian)",
	.races =
		(const struct rig_race[]){
			{.variable = "jiffies", .offset = {4, 4}, .rule = "unsure", .class = VERDICT_UNCLEAR}},
	.count = 1};

static const struct made_run made_runs[] = {
	{ROUND_1, "a", 1000, &both_races, "vfs_read"},
	{ROUND_1, "b", 2000, &bare_race, NULL},
	{ROUND_2, "a", 5000, &bare_race, NULL},
	{ROUND_2, "b", 6000, &both_races, "vfs_write"},
};
#define RUNS (sizeof(made_runs) / sizeof(made_runs[0]))

/* Shards of one round are told its uuid and its number. */
static int64_t round_of(struct fixture *f, struct store *s, const char *uuid)
{
	struct store_round_plan plan = {.campaign = "nightly",
					.uuid = uuid,
					.number = (uint64_t)(uuid[0] - '0'),
					.plan_hash = "0123456789abcdef",
					.planned = 2};
	struct store_rounds rounds;
	int64_t id;

	assert_int_equal(store_round_begin(s, &plan, &rounds, &f->err), 0);
	id = rounds.list[0].id;
	store_rounds_free(&rounds);
	return id;
}

static void make_run(struct fixture *f, struct store *s, const struct made_run *m)
{
	struct store_run_plan plan = {.key = m->key, .kernel = "stock", .command = "outrider run", .seed = 7};
	struct store_finding finding = {"panic", "Kernel panic", "console.log"};
	struct store_run_result result = {.outcome = STORE_PANIC,
					  .started = m->started,
					  .ended = m->started + 500,
					  .findings = &finding,
					  .finding_count = 1};
	char *races = strdup(store_rig_report(&f->rig, "races.json", m->report)), *text;
	int64_t round = round_of(f, s, m->round), run;

	if (m->function) {
		text = coverage(m->function, 2);
		result.coverage = store_rig_file(&f->rig, "coverage.json", text);
		free(text);
	}
	result.races = races;
	assert_int_equal(store_run_begin(s, round, &plan, &run, &f->err), 0);
	if (store_run_end(s, run, &result, NULL, &f->err) < 0)
		fail_msg("%s", f->err.text);
	free(races);
}

/* Rounds begin at a time that no test can choose. Each round of `s` gets the time of its runs. */
static void set_times(const char *place)
{
	static const char sql[] = "UPDATE round SET started = 900 WHERE uuid = '" ROUND_1 "'; "
				  "UPDATE round SET started = 4900 WHERE uuid = '" ROUND_2 "'; "
				  "UPDATE part SET started = 900, ended = 9000;";
	char command[512];

	if (strstr(place, "://")) {
		snprintf(command, sizeof(command), "SET search_path TO outrider; %s", sql);
		postgres_rig_sql(place, command);
		return;
	}
	snprintf(command, sizeof(command),
		 "python3 -c \"import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
		 "c.executescript(sys.argv[2]); c.close()\" '%s' \"%s\"",
		 place, sql);
	assert_int_equal(system(command), 0);
}

/* A store with the runs that `wanted` has a bit for. */
static void make_store(struct fixture *f, enum rig_kind kind, unsigned wanted, char place[RIG_PLACE_MAX])
{
	struct store *s;

	store_rig_place(&f->rig, kind, place);
	s = store_rig_open(place, STORE_MAKE);
	for (size_t i = 0; i < RUNS; i++) {
		if (wanted >> i & 1)
			make_run(f, s, &made_runs[i]);
	}
	store_close(s);
	set_times(place);
}

static char *dump_of(const char *place)
{
	struct store *s = store_rig_open(place, STORE_READ);
	char *text = store_rig_dump(s);

	store_close(s);
	return text;
}

static struct store_merged merge(const char *into, const char *from)
{
	struct store *to = store_rig_open(into, STORE_MAKE), *of = store_rig_open(from, STORE_READ);
	struct store_merged merged;
	struct err err = {0};

	if (store_merge(to, of, &merged, &err) < 0)
		fail_msg("%s", err.text);
	store_close(to);
	store_close(of);
	return merged;
}

/* What one store with all runs says. Both kinds say the same. */
static char *whole_dump(struct fixture *f)
{
	char place[RIG_PLACE_MAX], *text;

	make_store(f, RIG_SQLITE, 0xf, place);
	text = dump_of(place);
	assert_non_null(strstr(text, "jiffies_64"));
	return text;
}

static void both_kinds_say_the_same(void **state)
{
	struct fixture *f = *state;
	char place[RIG_PLACE_MAX], *expected = whole_dump(f), *text;

	make_store(f, f->kind, 0xf, place);
	text = dump_of(place);
	assert_string_equal(expected, text);
	free(expected);
	free(text);
}

static void shards_make_the_whole(void **state)
{
	struct fixture *f = *state;
	/* Which runs the first shard has. */
	static const unsigned splits[] = {0x5, 0x3, 0xe, 0xf, 0x0};
	char *expected = whole_dump(f);

	for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++) {
		char one[RIG_PLACE_MAX], two[RIG_PLACE_MAX], *text;
		struct store_merged merged;

		/* Each of a kind of its own. */
		make_store(f, f->kind, splits[i], one);
		make_store(f, f->kind == RIG_SQLITE ? RIG_POSTGRES : RIG_SQLITE, ~splits[i] & 0xf, two);
		merged = merge(one, two);
		assert_int_equal(merged.runs, (unsigned)__builtin_popcount(~splits[i] & 0xf));
		text = dump_of(one);
		assert_string_equal(expected, text);
		free(text);
		/* Again, and the other way round. */
		merged = merge(one, two);
		assert_int_equal(merged.runs + merged.rounds + merged.races + merged.triage, 0);
		text = dump_of(one);
		assert_string_equal(expected, text);
		free(text);
		merge(two, one);
		text = dump_of(two);
		assert_string_equal(expected, text);
		free(text);
	}
	free(expected);
}

static void say(const char *place, enum store_triage triage, const char *note, int64_t at)
{
	struct store *s = store_rig_open(place, STORE_WRITE);
	struct store_races races;
	struct err err = {0};

	assert_int_equal(store_races(s, &(struct store_races_query){0}, &races, &err), 0);
	if (triage == STORE_TRIAGE_FIXED)
		assert_int_equal(store_mend_set(s, races.list[0].id, (const char *[]){"6.1.115"}, 1, note, "ann", at, &err), 0);
	else
		assert_int_equal(store_triage_set(s, races.list[0].id, triage, note, "ann", at, &err), 0);
	store_races_free(&races);
	store_close(s);
}

static void the_later_word_holds(void **state)
{
	struct fixture *f = *state;
	char one[RIG_PLACE_MAX], two[RIG_PLACE_MAX];
	struct store_history history;
	struct store_races races;
	struct store *s;

	make_store(f, f->kind, 0x1, one);
	make_store(f, RIG_SQLITE, 0x1, two);
	say(one, STORE_TRIAGE_FIXED, "later", 7000);
	say(two, STORE_TRIAGE_KNOWN, "earlier", 6000);
	assert_int_equal(merge(one, two).triage, 1);
	assert_int_equal(merge(two, one).triage, 1);
	for (int i = 0; i < 2; i++) {
		s = store_rig_open(i ? two : one, STORE_READ);
		assert_int_equal(store_races(s, &(struct store_races_query){0}, &races, &f->err), 0);
		assert_int_equal(races.list[0].triage, STORE_TRIAGE_FIXED);
		assert_string_equal(races.list[0].mended, "6.1.115");
		assert_int_equal(store_history(s, races.list[0].id, &history, &f->err), 0);
		assert_int_equal(history.count, 2);
		assert_string_equal(history.list[0].note, "earlier");
		store_history_free(&history);
		store_races_free(&races);
		store_close(s);
	}
}

/* ---- folding ---- */

static struct store_freed gc(struct store *s, unsigned keep, bool dry_run)
{
	struct store_gc_plan plan = {.keep_rounds = keep, .dry_run = dry_run};
	struct store_freed freed;
	struct err err = {0};

	if (store_gc(s, &plan, &freed, &err) < 0)
		fail_msg("%s", err.text);
	return freed;
}

static void old_rounds_are_folded(void **state)
{
	struct fixture *f = *state;
	char place[RIG_PLACE_MAX], *before, *after;
	struct store_freed freed;
	struct store *s;

	make_store(f, f->kind, 0xf, place);
	say(place, STORE_TRIAGE_KNOWN, "a clock", 7000);
	before = dump_of(place);
	s = store_rig_open(place, STORE_WRITE);
	freed = gc(s, 2, false);
	assert_int_equal(freed.rounds, 0);
	/* The race with a word has 3 instances in run a, and 1 by its other name in run b. The other race has none folded. */
	freed = gc(s, 1, true);
	assert_int_equal(freed.rounds, 1);
	assert_int_equal(freed.instances, 4);
	assert_int_equal(freed.coverage, 1);
	freed = gc(s, 1, false);
	assert_int_equal(freed.rounds, 1);
	assert_int_equal(freed.instances, 4);
	assert_int_equal(freed.coverage, 1);
	freed = gc(s, 1, false);
	assert_int_equal(freed.rounds, 0);
	store_close(s);
	after = dump_of(place);
	assert_string_equal(before, after);
	free(before);
	free(after);
}

static void a_folded_store_merges(void **state)
{
	struct fixture *f = *state;
	char one[RIG_PLACE_MAX], two[RIG_PLACE_MAX], *expected = whole_dump(f), *text;
	struct store_merged merged;
	struct store *s;

	make_store(f, f->kind, 0xf, one);
	say(one, STORE_TRIAGE_KNOWN, "a clock", 7000);
	s = store_rig_open(one, STORE_WRITE);
	gc(s, 1, false);
	store_close(s);
	store_rig_place(&f->rig, RIG_SQLITE, two);
	merged = merge(two, one);
	assert_int_equal(merged.coverage_left, 0);
	assert_int_equal(merge(two, one).coverage_left, 0);
	text = dump_of(two);
	assert_non_null(strstr(text, " site vfs_read+0x1c 4 2 0 0 0 1\n"));
	assert_non_null(strstr(text, " site vfs_write+0x33 1 0 0 0 0 1\n"));
	free(text);
	free(expected);
}

/* ---- coverage in bounded memory ---- */

/* What a run covered: some sites of a few hundred, with counts that differ. */
static char *text_of_run(unsigned run)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (unsigned i = 0; i < 40; i++)
		fprintf(out, "function_%u+0x%x %u %u %u 0\n", (run * 7 + i * i) % 150, i % 4, 1 + run % 3, run % 5, i % 2);
	fclose(out);
	return text;
}

static void a_pile_is_bounded(void **state)
{
	struct coverage_sum small = {.room = 4096}, large = {.room = SIZE_MAX};
	size_t len, lens[2], most = 0;
	struct err err = {0};
	char *texts[2], *text = text_of_run(0);

	(void)state;
	len = strlen(text);
	free(text);
	for (unsigned run = 0; run < 2000; run++) {
		assert_int_equal(coverage_sum_add(&small, text_of_run(run), &err), 0);
		assert_int_equal(coverage_sum_add(&large, text_of_run(run), &err), 0);
		most = small.held > most ? small.held : most;
	}
	texts[0] = coverage_sum_text(&small, &lens[0], &err);
	texts[1] = coverage_sum_text(&large, &lens[1], &err);
	assert_string_equal(texts[0], texts[1]);
	/* The sum is larger than the room here. */
	assert_true(lens[0] > small.room);
	assert_true(most <= 2 * lens[0] + 2 * len);
	assert_true(large.held > 20 * most);
	for (int i = 0; i < 2; i++)
		free(texts[i]);
	coverage_sum_free(&small);
	coverage_sum_free(&large);
}

static void counts_of_a_pile_stay_counts(void **state)
{
	struct coverage_sum p = {.room = SIZE_MAX};
	struct err err = {0};
	size_t len;
	char *text;

	(void)state;
	for (int i = 0; i < 2; i++)
		/* A run of an older version has no fifth number. */
		assert_int_equal(coverage_sum_add(&p,
						  strdup(i ? "f+0x1 9223372036854775807 1 0 0 7\n"
							   : "f+0x1 9223372036854775807 1 0 0\n"),
						  &err),
				 0);
	text = coverage_sum_text(&p, &len, &err);
	assert_string_equal(text, "f+0x1 9223372036854775807 2 0 0 7\n");
	free(text);
	coverage_sum_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pile_is_bounded), cmocka_unit_test(counts_of_a_pile_stay_counts),
		BOTH(both_kinds_say_the_same),	     BOTH(shards_make_the_whole),
		BOTH(the_later_word_holds),	     BOTH(old_rounds_are_folded),
		BOTH(a_folded_store_merges),
	};

	return cmocka_run_group_tests(tests, start_server, end_server);
}
