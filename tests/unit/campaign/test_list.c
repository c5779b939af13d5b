// SPDX-License-Identifier: GPL-2.0-or-later
/* A round summary: its counts, which findings need attention, and its text in each format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "hv/campaign/list/gate.h"
#include "hv/campaign/list/list.h"
#include "hv/campaign/list/sentences.h"
#include "tests/unit/campaign/summary_made.h"

enum format { TEXT, MAIL, JSON, PAGE };

static char *shown(const struct summary *m, enum format format, const struct list_style *style)
{
	struct err err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	if (format == TEXT)
		list_text(out, m, style);
	else if (format == MAIL)
		list_mail(out, m, style);
	else if (format == PAGE)
		list_html(out, m);
	else
		assert_int_equal(list_json(out, m, &err), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *answer(const struct summary *m, enum list_answer which)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	list_answer_put(out, m, which);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void answers(const struct summary *m, enum list_answer which, const char *expected)
{
	char *text = answer(m, which);

	assert_string_equal(text, expected);
	free(text);
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" is in:\n%s", part, text);
}

static void begins(const char *text, const char *start)
{
	if (strncmp(text, start, strlen(start)) != 0)
		fail_msg("\"%s\" does not begin:\n%s", start, text);
}

static size_t longest_line(const char *text)
{
	size_t most = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");

		most = len > most ? len : most;
		text += len + (text[len] == '\n');
	}
	return most;
}

/* ---- what is counted ---- */

static void five_answers(void **state)
{
	struct summary m = summary_made();

	(void)state;
	answers(&m, LIST_NEW, "1 race: 1 harmful candidate; and 1 race seen again, although it was marked as fixed");
	answers(&m, LIST_GONE,
		"1 race of round 2: 1 unclear; 0 of them would most likely have been seen if they still existed");
	answers(&m, LIST_CHANGED, "1 verdict, 1 of them for the worse");
	answers(&m, LIST_BROKE, "1 finding, 1 not seen before: 1 panic; 1 of 12 runs are not done");
	answers(&m, LIST_COVERED, "39,445 of 425,869 sites (695 new); 24 of some 33 pairs raced (Chao1 estimate)");
	summary_free(&m);
}

static void nothing_happened(void **state)
{
	struct summary m = {
		.campaign = "nightly", .store = "s", .version = "0", .from = 1, .to = 1, .ends = {.ended = 1, .ok = 1}};
	char *text;

	(void)state;
	answers(&m, LIST_NEW, "nothing");
	answers(&m, LIST_GONE, "nothing to compare with: this is the first round");
	answers(&m, LIST_CHANGED, "no verdict");
	answers(&m, LIST_BROKE, "nothing");
	for (int i = 0; i < LIST_ANSWERS; i++)
		assert_false(list_answer_is_bad(&m, (enum list_answer)i));
	text = shown(&m, MAIL, &(struct list_style){0});
	has(text, "Subject: [outrider] nightly round 1: nothing new\n");
	free(text);
	summary_free(&m);
}

/* A race that a user marked as known or as not to be fixed needs no attention, and neither does a race that got better. */
static void what_is_worse(void **state)
{
	static const struct {
		enum store_change change;
		enum summary_class before, now;
		enum store_triage triage;
		bool worse;
	} cases[] = {
		{STORE_CHANGE_NEW, SUMMARY_BENIGN, SUMMARY_BENIGN, STORE_TRIAGE_NEW, true},
		{STORE_CHANGE_NEW, SUMMARY_BENIGN, SUMMARY_HARMFUL, STORE_TRIAGE_KNOWN, false},
		{STORE_CHANGE_NEW, SUMMARY_BENIGN, SUMMARY_HARMFUL, STORE_TRIAGE_WONTFIX, false},
		{STORE_CHANGE_BACK, SUMMARY_BENIGN, SUMMARY_BENIGN, STORE_TRIAGE_FIXED, true},
		{STORE_CHANGE_VERDICT, SUMMARY_BENIGN, SUMMARY_HARMFUL, STORE_TRIAGE_NEW, true},
		{STORE_CHANGE_VERDICT, SUMMARY_BENIGN, SUMMARY_HARMFUL, STORE_TRIAGE_KNOWN, false},
		{STORE_CHANGE_VERDICT, SUMMARY_HARMFUL, SUMMARY_BENIGN, STORE_TRIAGE_NEW, false},
		{STORE_CHANGE_VERDICT, SUMMARY_UNJUDGED, SUMMARY_HARMFUL, STORE_TRIAGE_NEW, false},
		{STORE_CHANGE_GONE, SUMMARY_HARMFUL, SUMMARY_HARMFUL, STORE_TRIAGE_NEW, false},
		{STORE_CHANGE_AGAIN, SUMMARY_HARMFUL, SUMMARY_HARMFUL, STORE_TRIAGE_NEW, false},
		{STORE_CHANGE_NONE, SUMMARY_HARMFUL, SUMMARY_HARMFUL, STORE_TRIAGE_NEW, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct summary_race r = {.change = cases[i].change,
					 .verdict.class = cases[i].now,
					 .before.class = cases[i].before,
					 .triage = cases[i].triage,
					 .suppressed = "",
					 .judged_before = cases[i].change != STORE_CHANGE_NEW};

		if (summary_is_worse(&r) != cases[i].worse)
			fail_msg("case %zu is%s worse", i, cases[i].worse ? " not" : "");
		r.unmended = true;
		assert_false(summary_is_worse(&r));
		r.unmended = false;
		r.suppressed = "known to the user";
		assert_false(summary_is_worse(&r));
	}
}

static void several_rounds_are_put_together(void **state)
{
	struct summary m = summary_made();
	unsigned of_class[SUMMARY_CLASSES];
	struct summary_round total;

	(void)state;
	m.from = 2;
	m.rounds[1].now = m.points[1].now = true;
	m.base = 1;
	total = summary_total(&m);
	assert_int_equal(total.hits, 412001 + 412002);
	assert_int_equal(total.runs, 24);
	assert_int_equal(total.done, 23);
	assert_string_equal(total.started, "2026-11-20T01:00:00Z");
	assert_string_equal(total.ended, "2026-11-22T04:01:00Z");
	assert_int_equal(total.lost_permille, 48);
	assert_int_equal(total.lost_most, 90);
	/* A race that is gone was not seen in this round, so the count leaves it out. */
	assert_int_equal(total.races, 4);
	assert_int_equal(total.fresh, 1);
	summary_classes(&m, of_class);
	assert_int_equal(of_class[SUMMARY_HARMFUL], 2);
	assert_int_equal(of_class[SUMMARY_UNCLEAR], 1);
	assert_int_equal(of_class[SUMMARY_BENIGN], 1);
	summary_free(&m);
}

/* ---- the gate ---- */

/* Each run counts by its outcome, by its hits, and by the first entry in its list of findings that is a failure. */
static void a_run_is_ok_or_broke_or_failed(void **state)
{
	static const struct {
		enum store_outcome outcome, failure;
		uint64_t hits;
		bool ok, broke;
		enum store_outcome why; /* STORE_OK: the run did not fail. */
	} cases[] = {
		{STORE_OK, STORE_OK, 7, true, false, STORE_OK},
		{STORE_OK, STORE_OK, 0, false, false, STORE_UNSAMPLED},
		{STORE_OK, STORE_TRUNCATED, 7, false, false, STORE_TRUNCATED},
		{STORE_UNSAMPLED, STORE_UNSAMPLED, 0, false, false, STORE_UNSAMPLED},
		{STORE_FAILED, STORE_OK, 7, false, false, STORE_FAILED},
		{STORE_PANIC, STORE_OK, 7, false, true, STORE_OK},
		{STORE_LIMIT, STORE_OK, 7, false, true, STORE_OK},
		{STORE_CRASH, STORE_NO_REPORT, 0, false, true, STORE_NO_REPORT},
		{STORE_HANG, STORE_OK, 0, false, true, STORE_UNSAMPLED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct store_ends ends = {0};
		bool failed = cases[i].why != STORE_OK;

		ends_count(&ends, cases[i].outcome, cases[i].failure, cases[i].hits);
		if (ends.ended != 1 || ends.ok != cases[i].ok || ends.broke != cases[i].broke || ends.failed != failed ||
		    ends.limited != (cases[i].outcome == STORE_LIMIT) || ends.of_failure[cases[i].why] != failed)
			fail_msg("case %zu is counted otherwise", i);
		assert_int_equal(gate_state(&ends, false), failed ? GATE_FAILED : GATE_COMPLETE);
		assert_int_equal(gate_state(&ends, true), GATE_UNFINISHED);
		ends_count(&ends, STORE_OK, STORE_OK, 1);
		assert_int_equal(gate_state(&ends, false), failed ? GATE_PARTLY : GATE_COMPLETE);
	}
	assert_int_equal(gate_state(&(struct store_ends){0}, false), GATE_FAILED);
}

static void what_each_word_counts(void **state)
{
	static const size_t expected[GATE_WHATS] = {[GATE_NEW_HARMFUL] = 2, [GATE_NEW_UNCLEAR] = 3, [GATE_ANY_NEW] = 3,
						    [GATE_NEW_FINDING] = 1, [GATE_FINDING] = 1,	    [GATE_COMPLAINT] = 1};
	struct summary m = summary_made();

	(void)state;
	for (int i = 0; i < GATE_WHATS; i++) {
		if (gate_count(&m, (enum gate_what)i) != expected[i])
			fail_msg("%s counts %zu", gate_word((enum gate_what)i), gate_count(&m, (enum gate_what)i));
		assert_int_equal(gate_passes(&m, 1u << i), !expected[i]);
	}
	assert_true(gate_passes(&m, 0));
	m.findings[0].kind = "no-report";
	assert_int_equal(gate_count(&m, GATE_FINDING), 0);
	m.ends = (struct store_ends){.ended = 2, .failed = 1, .of_failure[STORE_NO_REPORT] = 1};
	assert_false(gate_passes(&m, 0));
	answers(&m, LIST_BROKE, "1 of 2 runs gave no answer: 1 left no report; 1 of 12 runs are not done");
	assert_true(list_answer_is_bad(&m, LIST_BROKE));
	summary_free(&m);
}

/* Whether it says something that a race is gone depends on how often its sites were sampled. */
static void a_race_that_is_gone_was_looked_for_or_not(void **state)
{
	static const struct {
		uint64_t since;
		double missed;
		size_t looked_for;
		const char *says;
	} cases[] = {
		{1, 1, 0,
		 "1 window at its sites since then would miss it with a probability of 100.0 %, so its absence proves "
		 "nothing\n"},
		{4200, 0.05, 1, "4,200 windows at its sites since then would miss it with a probability of 5.0 %\n"},
		{4200, 0.051, 0, "with a probability of 5.1 %, so its absence proves nothing\n"},
		{0, 1, 0, "its sites were not sampled since then, so its absence proves nothing\n"},
		{0, -1, 0, "the probability that the windows since then would miss it is not known\n"},
	};
	struct list_style style = {.width = 400};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct summary m = summary_made();
		char *text;

		for (size_t j = 0; j < m.race_count; j++) {
			if (m.races[j].change != STORE_CHANGE_GONE)
				continue;
			m.races[j].windows_since = cases[i].since;
			m.races[j].missed = cases[i].missed;
		}
		assert_int_equal(summary_looked_for(&m), cases[i].looked_for);
		text = shown(&m, TEXT, &style);
		has(text, cases[i].says);
		free(text);
		summary_free(&m);
	}
}

static void numbers_have_commas(void **state)
{
	char out[LIST_WORDS_MAX];

	(void)state;
	assert_string_equal(list_number(0, out), "0");
	assert_string_equal(list_number(999, out), "999");
	assert_string_equal(list_number(1000, out), "1,000");
	assert_string_equal(list_number(UINT64_MAX, out), "18,446,744,073,709,551,615");
}

static void the_worst_subsystem_comes_first(void **state)
{
	struct summary m = summary_made();
	struct list_subsystem *list;
	size_t count;

	(void)state;
	list = list_subsystems(&m, &count);
	assert_int_equal(count, 2); /* All races of net/core are gone. */
	assert_string_equal(list[0].name, "fs/ext4");
	assert_int_equal(list[0].worse, 3);
	assert_int_equal(list[0].all, 3);
	assert_string_equal(list[1].name, "SCHEDULER");
	assert_int_equal(list[1].worse, 0);
	free(list);
	summary_free(&m);
}

/* ---- text and mail ---- */

static void text_says_the_answers_first(void **state)
{
	struct summary m = summary_made();
	char *text = shown(&m, TEXT, &(struct list_style){0});

	(void)state;
	begins(text, "nightly, round 3 against round 2: 2026-11-21 22:00 to 2026-11-22 04:01 UTC, 11 of 12 runs done, 1\n"
		     "    broke; 1 attempt was cut off\n"
		     "  new       1 race: 1 harmful candidate; and 1 race seen again, ");
	assert_true(longest_line(text) <= 100);
	has_not(text, "\x1b");
	has(text, "000000000001  harmful candidate, lock-on-one-side\n"
		  "     write in ext4_foo [ext4] <-> read in ext4_bar [ext4]: inode->i_size\n"
		  "     fs/ext4; seen 14 times in 3 runs; in 6.1.0-55-cloud-amd64, 6.1.0-56-cloud-amd64\n");
	has(text, "     was benign, safe-flag-update\n");
	has(text, "     fixed in 6.1.115, 6.12, says ada, 2026-11-20: by the patch of Tuesday\n");
	has(text, "     fs/ext4; seen 14 times in 3 runs, first in round 1; in ");
	has(text, "  000000000004  unclear: write in ext4_foo [ext4] <-> read in ext4_bar [ext4]\n");
	has(text,
	    "  panic     6.1/cloud/syscalls/default/17\n     Kernel panic - not syncing: Fatal exception\n"
	    "     console: /var/lib/outrider/runs/3/17/console.log\n     again:   sh /var/lib/outrider/runs/3/17/command\n");
	has_not(text, "000000000005");
	has(text, "1 race is as it was.\n");
	free(text);
	text = shown(&m, TEXT, &(struct list_style){.all = true, .colour = true});
	has(text, "000000000005\x1b[0m  benign\n");
	has(text, "     net/core; seen in 2 rounds up to round 2, first in round 1; in 6.1.0-55-cloud-amd64,\n"
		  "         6.1.0-56-cloud-amd64; 420 windows at its sites since then would miss it with a probability\n"
		  "         of 12.3 %, so its absence proves nothing\n");
	has(text, "\x1b[1;31mnew       1 race");
	free(text);
	summary_free(&m);
}

static void mail_fits_72_columns(void **state)
{
	struct summary m = summary_made();
	char *text = shown(&m, MAIL, &(struct list_style){.colour = true}), *body = strstr(text, "\n\n");

	(void)state;
	begins(text, "Subject: [outrider] nightly round 3: 1 new race (1 harmful), 1 back, 1 changed, 1 finding\n");
	assert_non_null(body);
	assert_true(longest_line(body) <= 72);
	has_not(text, "\x1b");
	free(text);
	summary_free(&m);
}

/* The name of a campaign may contain line breaks. The subject is one header line all the same. */
static void a_subject_is_one_line(void **state)
{
	struct summary m = summary_made();
	struct err err = {0};
	char *text;

	(void)state;
	m.campaign = summary_line(&m, "night\nBcc: all@example.org\r\n\r\n\xc3\xa9", &err);
	assert_non_null(m.campaign);
	text = shown(&m, MAIL, &(struct list_style){0});
	assert_true(strncmp(text, "Subject: [outrider] night\\x0aBcc: all@example.org\\x0d\\x0a\\x0d\\x0a?? round 3: ", 70) ==
		    0);
	has_not(text, "\nBcc");
	free(text);
	summary_free(&m);
}

/* ---- plots ---- */

/* Returns the y coordinate of the dot with this tooltip. */
static double dot_of(const char *page, const char *tip)
{
	const char *at = strstr(page, tip), *dot = at;
	double y = -1;

	if (!at)
		fail_msg("no dot says '%s'", tip);
	while (dot > page && strncmp(dot, "<circle ", 8) != 0)
		dot--;
	dot = strstr(dot, " cy=\"");
	assert_true(dot && dot < at && sscanf(dot, " cy=\"%lf\"", &y) == 1);
	return y;
}

/* The first estimates can be many times too large. They have their place on the axis all the same. */
static void no_estimate_is_cut_off(void **state)
{
	static const double estimates[] = {976, 6816, 41};
	struct summary m = summary_made();
	double y[3];
	char *page, *pairs;

	(void)state;
	for (int i = 0; i < 3; i++)
		m.points[i].estimate = estimates[i];
	page = shown(&m, PAGE, NULL);
	pairs = strstr(page, "Pairs of sites that raced");
	assert_non_null(pairs);
	has(pairs, ">pairs of sites, logarithmic</text>");
	has(pairs, ">1000</text>");
	y[0] = dot_of(pairs, "After round 1: 976 pairs estimated");
	y[1] = dot_of(pairs, "After round 2: 6816 pairs estimated");
	y[2] = dot_of(pairs, "After round 3: 41 pairs estimated");
	assert_true(y[1] >= 12 && y[1] < y[0] && y[0] < y[2] && y[2] < dot_of(pairs, "After round 3: 24 pairs seen"));
	assert_true(y[2] < 178);
	/* Each factor of ten is as high as any other one. */
	assert_float_equal((y[2] - y[0]) / log10(976.0 / 41), (y[0] - y[1]) / log10(6816.0 / 976), 0.5);
	free(page);
	/* Estimates near what was seen have a linear axis, which begins at 0. */
	m.points[0].estimate = m.points[1].estimate = 41;
	page = shown(&m, PAGE, NULL);
	has(page, ">pairs of sites</text>");
	has_not(page, "logarithmic");
	free(page);
	summary_free(&m);
}

static void each_axis_has_a_name(void **state)
{
	static const char *const names[] = {">races</text>", ">pairs of sites</text>", ">sites hit</text>",
					    ">time that CPUs were stopped</text>"};
	struct summary m = summary_made();
	char *page = shown(&m, PAGE, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		has(page, names[i]);
	has_not(page, "No data");
	free(page);
	summary_free(&m);
}

static void a_plot_without_data_says_so(void **state)
{
	struct summary m = summary_made();
	char *page;

	(void)state;
	for (size_t i = 0; i < m.round_count; i++) {
		m.rounds[i].lost_permille = m.rounds[i].lost_most = -1;
		m.points[i].sites = 0;
		m.points[i].estimate = 0;
	}
	page = shown(&m, PAGE, NULL);
	has(page, "No data: no run left coverage with a site that was hit.");
	has(page, "No data: no run reports for how long CPUs were stopped.");
	has(page, "no estimate yet: it needs two runs that sampled");
	free(page);
	m.point_count = 0;
	page = shown(&m, PAGE, NULL);
	has(page, "No data: no run saw a race.");
	free(page);
	summary_free(&m);
}

/* ---- JSON ---- */

static void json_has_all(void **state)
{
	struct summary m = summary_made();
	char *text = shown(&m, JSON, NULL);
	json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *race;
	const char *schema, *change;
	int new, gone;

	(void)state;
	assert_non_null(o);
	assert_int_equal(json_unpack(o, "{s:s, s:{s:i, s:i}}", "schema", &schema, "summary", "new", &new, "gone", &gone), 0);
	assert_string_equal(schema, "outrider-campaign-list/1");
	assert_int_equal(new, 1);
	assert_int_equal(gone, 1);
	assert_int_equal(json_array_size(json_object_get(o, "races")), m.race_count);
	race = json_array_get(json_object_get(o, "races"), 0);
	assert_int_equal(json_unpack(race, "{s:s}", "change", &change), 0);
	assert_string_equal(change, "new");
	assert_true(json_is_null(json_object_get(race, "before")));
	assert_int_equal(json_array_size(json_object_get(o, "rounds")), m.round_count);
	json_decref(o);
	free(text);
	summary_free(&m);
}

/* Of many gone races the summary shows the weightiest and counts the rest. It shows all new races. */
static void much_that_is_gone_is_counted(void **state)
{
	struct summary m = summary_made();
	struct list_style style = {0};
	static char ids[60][13];
	char *text = NULL;
	size_t size;

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		snprintf(ids[i], sizeof(ids[i]), "%012x", 0xabc000u + i);
		summary_made_race(&m, i < 30 ? STORE_CHANGE_GONE : STORE_CHANGE_NEW, SUMMARY_HARMFUL, ids[i]);
	}
	summary_sort(&m);
	for (int all = 0; all < 2; all++) {
		FILE *out = open_memstream(&text, &size);
		unsigned gone = 0, fresh = 0;

		style.all = all;
		list_text(out, &m, &style);
		fclose(out);
		for (unsigned i = 0; i < 60; i++)
			*(i < 30 ? &gone : &fresh) += strstr(text, ids[i]) != NULL;
		assert_int_equal(fresh, 30);
		assert_int_equal(gone, all ? 30 : 20);
		(all ? has_not : has)(text, "  11 races that rank lower: --all shows them\n");
		free(text);
	}
	summary_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(much_that_is_gone_is_counted),
		cmocka_unit_test(five_answers),
		cmocka_unit_test(nothing_happened),
		cmocka_unit_test(what_is_worse),
		cmocka_unit_test(several_rounds_are_put_together),
		cmocka_unit_test(a_race_that_is_gone_was_looked_for_or_not),
		cmocka_unit_test(a_run_is_ok_or_broke_or_failed),
		cmocka_unit_test(what_each_word_counts),
		cmocka_unit_test(numbers_have_commas),
		cmocka_unit_test(the_worst_subsystem_comes_first),
		cmocka_unit_test(text_says_the_answers_first),
		cmocka_unit_test(mail_fits_72_columns),
		cmocka_unit_test(a_subject_is_one_line),
		cmocka_unit_test(no_estimate_is_cut_off),
		cmocka_unit_test(each_axis_has_a_name),
		cmocka_unit_test(a_plot_without_data_says_so),
		cmocka_unit_test(json_has_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
