// SPDX-License-Identifier: GPL-2.0-or-later
/* What runs of `outrider explore` leave in the store: races, findings, and which trials need not be run again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/campaign/store_both.h"

#define BUILD "00112233445566778899aabbccddeeff00112233"
#define OTHER_BUILD "ff112233445566778899aabbccddeeff00112233"
#define COMPLAINT "BUG: kernel NULL pointer dereference, address: 0000000000000010"

static const struct store_programs pair = {"load", {"put", "get"}};
static const struct store_programs other_pair = {"load", {"put", "wait"}};

/* Two candidates: the first is an access of the module gt to its variable, the second is code of every program. */
#define CANDIDATES                                                                                                            \
	"[{\"sides\": [{\"name\": \"gt:gt_put+0xc\", \"access\": \"read-write\"}, {\"name\": \"gt:gt_get.cold+0x8\", "        \
	"\"access\": \"read\"}], \"race\": \"ad8cf7e62e5b\", \"memory\": null, \"common_lock\": false, \"one_side_locked\": " \
	"false, \"serves_all\": false, \"in_baseline\": false}, "                                                             \
	"{\"sides\": [{\"name\": \"vfs_read+0x1\", \"access\": \"write\"}, {\"name\": \"vfs_read+0x1\", \"access\": "         \
	"\"write\"}], \"race\": \"0123456789ab\", \"memory\": null, \"common_lock\": false, \"one_side_locked\": false, "     \
	"\"serves_all\": false, \"in_baseline\": true}]"

#define SAME(candidate, schedule)                                                                                         \
	"{\"candidate\": " #candidate ", \"schedule\": \"" schedule "\", \"forced\": \"forced\", \"outcome\": \"same\", " \
	"\"text\": null, \"scenario\": null}"
#define HARM(candidate, schedule, outcome, text)                                                                          \
	"{\"candidate\": " #candidate ", \"schedule\": \"" schedule "\", \"forced\": \"forced\", \"outcome\": \"" outcome \
	"\", \"text\": " text ", \"scenario\": \"/lab/ad8cf7e62e5b-" schedule ".scenario\"}"

/* The first night: one trial of four finds something, and one of the eight could not be run. */
#define FIRST_NIGHT                                                                                                   \
	HARM(0, "flip-a", "complaint", "\"" COMPLAINT "\"")                                                           \
	", " SAME(0, "flip-b") ", " SAME(0, "pause-a") ", {\"candidate\": 0, \"schedule\": \"pause-b\", \"forced\": " \
						       "\"forced\", \"outcome\": \"failed\", \"text\": \"fork\"}"
/* The second night: the finding is still there, and two more trials were run. */
#define SECOND_NIGHT HARM(0, "flip-a", "complaint", "\"" COMPLAINT "\"") ", " SAME(0, "pause-b") ", " SAME(1, "flip-a")

/* Write a result of `outrider explore` of these programs. Returns its path, as store_rig_file() does. */
static const char *result_of(struct fixture *f, const char *build, const struct store_programs *p, unsigned skipped,
			     const char *trials)
{
	char *text = NULL;
	const char *path;

	assert_true(
		asprintf(&text,
			 "{\"schema\": \"outrider-explore/1\", \"kernel\": \"Linux version 6.1\", \"build_id\": \"%s\", "
			 "\"prepare\": \"%s\", \"programs\": [{\"command\": \"%s\"}, {\"command\": \"%s\"}], \"candidates\": "
			 "%s, \"trials\": [%s], \"skipped\": %u, \"schedules\": 7}",
			 build, p->prepare, p->program[0], p->program[1], CANDIDATES, trials, skipped) > 0);
	path = store_rig_file(&f->rig, "explored.json", text);
	free(text);
	return path;
}

static int store_result(struct store *s, int64_t round, const char *path, enum store_bad *bad, struct err *err)
{
	const struct store_run_plan plan = {.key = "stock/small/gt.put+get/plain/#1",
					    .kernel = "stock",
					    .image = "small",
					    .workload = "gt.put+get",
					    .sampling = "plain",
					    .engine = "explore",
					    .command = "outrider explore",
					    .folder = "runs/1"};
	const struct store_run_result result = {
		.outcome = STORE_OK, .detail = "", .races = path, .explored = true, .must_report = true};
	int64_t id = 0;

	usleep(2000);
	return store_run_begin(s, round, &plan, &id, err) < 0 ? -1 : store_run_end(s, id, &result, bad, err);
}

/* A round of the campaign with one run. Returns the round's id. */
static int64_t night(struct fixture *f, const char *build, const struct store_programs *p, unsigned skipped, const char *trials)
{
	int64_t round = store_rig_round(f->s, "night", NULL);

	if (store_result(f->s, round, result_of(f, build, p, skipped, trials), NULL, &f->err) < 0)
		fail_msg("%s", f->err.text);
	return round;
}

/* Returns what store_tried() writes. */
static char *tried(struct store *s, const struct store_programs *p, unsigned *again)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct err err = {0};

	assert_non_null(out);
	if (store_tried(s, p, out, again, &err) < 0)
		fail_msg("%s", err.text);
	fclose(out);
	return text;
}

#define assert_tried(s, p, expected, count)          \
	do {                                         \
		unsigned again;                      \
		char *text = tried(s, p, &again);    \
                                                     \
		assert_string_equal(text, expected); \
		assert_int_equal(again, count);      \
		free(text);                          \
	} while (0)

static void a_finding_is_a_harmful_race_with_its_complaint(void **state)
{
	struct fixture *f = *state;
	int64_t round = night(f, BUILD, &pair, 0, FIRST_NIGHT);
	struct store_races races = races_of(f, round, 0);
	struct store_findings findings;
	const struct store_race *r = races.list;

	assert_int_equal(races.count, 1);
	assert_string_equal(r->sides[0].function, "gt_get");
	assert_string_equal(r->sides[0].module, "gt");
	assert_string_equal(r->sides[0].kind, "read");
	assert_string_equal(r->sides[1].function, "gt_put");
	assert_string_equal(r->sides[1].kind, "write");
	assert_int_equal(r->verdict.class, VERDICT_HARMFUL);
	assert_string_equal(r->verdict.rule, "forced-complaint");
	assert_string_equal(r->verdict.evidence, "the kernel complains in the schedule flip-a: " COMPLAINT
						 "; scenario ad8cf7e62e5b-flip-a.scenario");
	assert_string_equal(r->reports, "ad8cf7e62e5b");
	assert_int_equal(r->change, STORE_CHANGE_NEW);
	store_races_free(&races);

	assert_int_equal(store_findings(f->s, round, &findings, &f->err), 0);
	assert_int_equal(findings.count, 1);
	assert_string_equal(findings.list[0].kind, "complaint");
	assert_string_equal(findings.list[0].line, COMPLAINT);
	/* The scenario is in the folder of the run's other files, wherever the run itself wrote it. */
	assert_string_equal(strrchr(findings.list[0].file, '/'), "/ad8cf7e62e5b-flip-a.scenario");
	assert_int_equal(strncmp(findings.list[0].file, f->rig.folder, strlen(f->rig.folder)), 0);
	store_findings_free(&findings);
}

static void hangs_and_killed_programs_are_harmful_too(void **state)
{
	struct fixture *f = *state;
	int64_t round = night(f, BUILD, &pair, 0, HARM(0, "pause-a", "hang", "null") ", " HARM(1, "flip-b", "killed", "null"));
	struct store_races races = races_of(f, round, 0);
	struct store_findings findings;

	assert_int_equal(races.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(races.list[i].verdict.class, VERDICT_HARMFUL);
	store_races_free(&races);
	/* Only the hang is a bad end of a run, too. */
	assert_int_equal(store_findings(f->s, round, &findings, &f->err), 0);
	assert_int_equal(findings.count, 1);
	assert_string_equal(findings.list[0].kind, "hang");
	assert_string_equal(findings.list[0].line,
			    "the programs hang in the schedule pause-a; scenario ad8cf7e62e5b-pause-a.scenario");
	store_findings_free(&findings);
}

static void lost_memory_is_harm_too(void **state)
{
	struct fixture *f = *state;
	int64_t round = night(
		f, BUILD, &pair, 0,
		"{\"candidate\": 0, \"schedule\": \"flip-a\", \"forced\": \"forced\", \"outcome\": \"leak\", \"text\": null, "
		"\"leak\": {\"cache\": \"kmalloc-1k\"}, \"freed_twice\": null, \"scenario\": null}, "
		"{\"candidate\": 1, \"schedule\": \"flip-b\", \"forced\": \"forced\", \"outcome\": \"freed-twice\", "
		"\"text\": null, \"leak\": null, \"freed_twice\": {\"cache\": null}, \"scenario\": null}");
	struct store_races races = races_of(f, round, 0);
	struct store_findings findings;

	assert_int_equal(races.count, 2);
	assert_string_equal(races.list[0].verdict.rule, "forced-freed-twice");
	assert_string_equal(races.list[0].verdict.evidence, "the kernel frees an object twice in the schedule flip-b");
	assert_string_equal(races.list[1].verdict.rule, "forced-leak");
	assert_string_equal(races.list[1].verdict.evidence,
			    "the kernel loses memory in the schedule flip-a: objects of the cache kmalloc-1k");
	store_races_free(&races);
	assert_int_equal(store_findings(f->s, round, &findings, &f->err), 0);
	assert_int_equal(findings.count, 0);
	store_findings_free(&findings);
}

/* A run without a finding is ok, although it has no hits and no windows. */
static void exploring_is_an_answer(void **state)
{
	struct fixture *f = *state;
	int64_t round = night(f, BUILD, &pair, 0, SAME(0, "flip-a"));
	struct store_ends ends;

	assert_int_equal(store_round_ends(f->s, round, NULL, &ends, &f->err), 0);
	assert_int_equal(ends.ok, 1);
	assert_int_equal(ends.failed, 0);
}

static void the_next_round_goes_on(void **state)
{
	struct fixture *f = *state;

	assert_tried(f->s, &pair, "", 0);
	night(f, BUILD, &pair, 0, FIRST_NIGHT);
	/* The trial that found something is run again each night, and so is the one that could not be run. */
	assert_tried(f->s, &pair,
		     BUILD " gt:gt_put+0xc gt:gt_get.cold+0x8 flip-b\n" BUILD " gt:gt_put+0xc gt:gt_get.cold+0x8 pause-a\n", 1);
	assert_tried(f->s, &other_pair, "", 0);
	night(f, BUILD, &pair, 2, SECOND_NIGHT);
	assert_tried(f->s, &pair,
		     BUILD " gt:gt_put+0xc gt:gt_get.cold+0x8 flip-b\n" BUILD
			   " gt:gt_put+0xc gt:gt_get.cold+0x8 pause-a\n" BUILD
			   " gt:gt_put+0xc gt:gt_get.cold+0x8 pause-b\n" BUILD " vfs_read+0x1 vfs_read+0x1 flip-a\n",
		     1);
	/* In another build, nothing was found yet. */
	night(f, OTHER_BUILD, &pair, 0, SAME(1, "flip-a"));
	assert_tried(f->s, &pair,
		     BUILD " gt:gt_put+0xc gt:gt_get.cold+0x8 flip-b\n" BUILD
			   " gt:gt_put+0xc gt:gt_get.cold+0x8 pause-a\n" BUILD
			   " gt:gt_put+0xc gt:gt_get.cold+0x8 pause-b\n" BUILD " vfs_read+0x1 vfs_read+0x1 flip-a\n" OTHER_BUILD
			   " vfs_read+0x1 vfs_read+0x1 flip-a\n",
		     0);
}

/* A slow host can be the reason why a program did not come to its access in time. */
static void a_missed_trial_is_run_twice(void **state)
{
	static const char missed[] = "{\"candidate\": 0, \"schedule\": \"flip-a\", \"forced\": \"not-reached\", \"outcome\": "
				     "\"same\", \"text\": null, \"scenario\": null}";
	struct fixture *f = *state;
	struct store_explored e;

	night(f, BUILD, &pair, 0, missed);
	assert_tried(f->s, &pair, "", 0);
	assert_int_equal(store_explored(f->s, "night", "stock", &e, &f->err), 0);
	assert_int_equal(e.list[0].untried, 7);
	store_explored_free(&e);
	night(f, BUILD, &pair, 0, missed);
	assert_tried(f->s, &pair, BUILD " gt:gt_put+0xc gt:gt_get.cold+0x8 flip-a\n", 0);
}

static void a_finding_that_is_seen_once_more_is_not_new(void **state)
{
	struct fixture *f = *state;
	struct store_races races;

	night(f, BUILD, &pair, 0, FIRST_NIGHT);
	races = races_of(f, night(f, BUILD, &pair, 2, SECOND_NIGHT), 0);
	assert_int_equal(races.count, 1);
	assert_int_equal(races.list[0].change, STORE_CHANGE_NONE);
	store_races_free(&races);
}

static void pairs_are_listed_for_the_last_build(void **state)
{
	struct fixture *f = *state;
	struct store_explored e;

	assert_int_equal(store_explored(f->s, "night", "stock", &e, &f->err), 0);
	assert_int_equal(e.count, 0);
	store_explored_free(&e);
	night(f, OTHER_BUILD, &other_pair, 0, SAME(0, "flip-a"));
	night(f, BUILD, &pair, 0, FIRST_NIGHT);
	night(f, BUILD, &pair, 2, SECOND_NIGHT);
	assert_int_equal(store_explored(f->s, "night", "stock", &e, &f->err), 0);
	assert_int_equal(e.count, 1);
	assert_string_equal(e.list[0].pair.prepare, "load");
	assert_string_equal(e.list[0].pair.program[0], "put");
	assert_string_equal(e.list[0].pair.program[1], "get");
	assert_int_equal(e.list[0].trials, 7);
	assert_int_equal(e.list[0].own, 1);
	/* Of 7 schedules, the first night tried 3, and the second night 2 more and the finding again. */
	assert_int_equal(e.list[0].untried, 2);
	store_explored_free(&e);
	assert_int_equal(store_explored(f->s, "night", "debug", &e, &f->err), 0);
	assert_int_equal(e.count, 0);
	store_explored_free(&e);
}

static void a_merge_takes_what_was_tried(void **state)
{
	struct fixture *f = *state;
	char place[RIG_PLACE_MAX], *one, *other;
	struct store_merged merged;
	struct store *into;

	night(f, BUILD, &pair, 0, FIRST_NIGHT);
	store_rig_place(&f->rig, RIG_SQLITE, place);
	into = store_rig_open(place, STORE_MAKE);
	for (int i = 0; i < 2; i++) {
		if (store_merge(into, f->s, &merged, &f->err) < 0)
			fail_msg("%s", f->err.text);
	}
	one = store_rig_dump(f->s);
	other = store_rig_dump(into);
	assert_string_equal(one, other);
	assert_tried(into, &pair,
		     BUILD " gt:gt_put+0xc gt:gt_get.cold+0x8 flip-b\n" BUILD " gt:gt_put+0xc gt:gt_get.cold+0x8 pause-a\n", 1);
	free(one);
	free(other);
	store_close(into);
}

/* A run's files are not trusted. */
static void wrong_results_are_refused(void **state)
{
	static const char *const wrong[] = {
		"{",
		"[]",
		"{\"schema\": \"outrider-races/1\"}",
		"{\"schema\": \"outrider-explore/1\", \"programs\": [], \"candidates\": [], \"trials\": [], \"skipped\": 0}",
	};
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "night", NULL);
	enum store_bad bad;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		f->err = (struct err){0};
		assert_int_equal(store_result(f->s, round, store_rig_file(&f->rig, "explored.json", wrong[i]), &bad, &f->err),
				 -1);
		assert_int_equal(f->err.code, EXIT_INPUT);
		assert_int_equal(bad, STORE_BAD_RACES);
	}
	f->err = (struct err){0};
	assert_int_equal(store_result(f->s, round, result_of(f, BUILD, &pair, 0, SAME(2, "flip-a")), &bad, &f->err), -1);
	assert_int_equal(bad, STORE_BAD_RACES);
	assert_non_null(strstr(f->err.text, "the index of a candidate"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(a_finding_is_a_harmful_race_with_its_complaint),
		BOTH(hangs_and_killed_programs_are_harmful_too),
		BOTH(lost_memory_is_harm_too),
		BOTH(exploring_is_an_answer),
		BOTH(the_next_round_goes_on),
		BOTH(a_missed_trial_is_run_twice),
		BOTH(a_finding_that_is_seen_once_more_is_not_new),
		BOTH(pairs_are_listed_for_the_last_build),
		BOTH(a_merge_takes_what_was_tried),
		BOTH(wrong_results_are_refused),
	};

	return cmocka_run_group_tests(tests, start_server, end_server);
}
