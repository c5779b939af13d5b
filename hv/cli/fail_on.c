// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses --fail-on and --error-exitcode, and decides by what a run found whether a command fails. A run is in doubt if it is
 * unsampled or not finished (enum run_doubt): then it says nothing about the kernel.
 */
#include "hv/cli/fail_on.h"

#include <stdio.h>
#include <string.h>

#include "hv/base/clean.h"
#include "pruner/groups.h"

enum fail_on_key { KEY_FAIL_ON = 0x400, KEY_CODE };

static const struct argp_option options[] = {
	{"fail-on", KEY_FAIL_ON, "WORDS", 0,
	 "exit with a status of its own when a race is found that is not suppressed and is a harmful candidate (harmful), is a "
	 "harmful candidate or unclear (unclear), or has any verdict (any-new); when the guest's kernel complained "
	 "(complaint); when locks make something suspect (suspicion); or when two critical sections do what must be one step, "
	 "which is one kind of suspicion (atomicity). Any of "
	 "these words also fails for a run that sampled nothing (unsampled) or is not finished (unfinished). "
	 "unsampled and unfinished can be given alone; no-unsampled and no-unfinished leave them out, as in "
	 "harmful,no-unsampled. Several words have commas between them",
	 FAIL_ON_GROUP},
	{"error-exitcode", KEY_CODE, "N", 0, "the exit status of --fail-on (default 1); alone, it means --fail-on harmful",
	 FAIL_ON_GROUP},
	{0},
};

static const struct argp_option diff_options[] = {
	{"fail-on", KEY_FAIL_ON, "WORDS", 0,
	 "exit with a status of its own when a race is new or worse, is not suppressed, and is a harmful candidate (harmful), "
	 "is a harmful candidate or unclear (unclear), or has any verdict (any-new). Any of these words also fails for a new "
	 "run that "
	 "sampled "
	 "nothing (unsampled) or is not finished (unfinished). "
	 "unsampled and unfinished can be given alone; no-unsampled and no-unfinished leave them out, as in "
	 "harmful,no-unsampled",
	 FAIL_ON_GROUP},
	{"error-exitcode", KEY_CODE, "N", 0, "the exit status of --fail-on (default 1); alone, it means --fail-on harmful",
	 FAIL_ON_GROUP},
	{0},
};

static const struct argp_option locks_options[] = {
	{"fail-on", KEY_FAIL_ON, "WORDS", 0,
	 "exit with a status of its own when there is a suspicion (suspicion), or one that two critical sections do what must "
	 "be "
	 "one step (atomicity), and also for a run that sampled nothing (unsampled) or is not finished (unfinished). "
	 "unsampled and unfinished can be given alone; no-unsampled and no-unfinished leave them out, as in "
	 "suspicion,no-unsampled",
	 FAIL_ON_GROUP},
	{"error-exitcode", KEY_CODE, "N", 0,
	 "the exit status of --fail-on and --assert (default 1); without --assert, alone it means --fail-on suspicion",
	 FAIL_ON_GROUP},
	{0},
};

static const struct fail_word words[] = {
	{FAIL_WORD_HARMFUL, FAIL_ON_HARMFUL, false},
	{FAIL_WORD_UNCLEAR, FAIL_ON_UNCLEAR, false},
	{FAIL_WORD_ANY_NEW, FAIL_ON_ANY_NEW, false},
	{FAIL_WORD_SUSPICION, FAIL_ON_SUSPICION, false},
	{FAIL_WORD_ATOMICITY, FAIL_ON_ATOMICITY, false},
	{FAIL_WORD_COMPLAINT, FAIL_ON_COMPLAINT, false},
	{FAIL_WORD_UNSAMPLED, FAIL_ON_UNSAMPLED, false},
	{FAIL_WORD_UNFINISHED, FAIL_ON_UNFINISHED, false},
	{FAIL_WORD_NO FAIL_WORD_UNSAMPLED, FAIL_ON_UNSAMPLED, true},
	{FAIL_WORD_NO FAIL_WORD_UNFINISHED, FAIL_ON_UNFINISHED, true},
};

static const char *fail_on_word(size_t i)
{
	return i < sizeof(words) / sizeof(words[0]) ? words[i].word : NULL;
}

const struct cli_choice fail_on_choice = {"WORDS", fail_on_word};

/* Returns the meaning that an exit code already has, or NULL if it has none. */
static const char *meaning(uint64_t code)
{
	static const struct {
		uint64_t code;
		const char *meaning;
	} taken[] = {
		{EXIT_USAGE, "a wrong option"},
		{EXIT_INPUT, "a file that cannot be used"},
		{EXIT_GUEST, "a guest that died"},
		{EXIT_INTERNAL, "a failure of outrider itself"},
		{EXIT_TIMEOUT, "that --timeout was over"},
		{128 + 1, "the end by SIGHUP"},
		{128 + 2, "the end by SIGINT"},
		{128 + 15, "the end by SIGTERM"},
	};

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		if (taken[i].code == code)
			return taken[i].meaning;
	}
	return NULL;
}

error_t fail_on_read_code(const char *arg, struct argp_state *state, unsigned char *out)
{
	uint64_t code;

	if (cli_number(arg, 1, 255, &code) < 0)
		return cli_usage(state, "--error-exitcode %s: give a number from 1 to 255", arg);
	if (meaning(code))
		return cli_usage(state, "--error-exitcode %s: this exit status means %s; give another one, for example 1", arg,
				 meaning(code));
	*out = (unsigned char)code;
	return 0;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct fail_on *f = state->input;
	error_t rc;

	switch (key) {
	case KEY_FAIL_ON:
		rc = fail_words_read(state, &fail_on_choice, words, arg, &f->words);
		if (rc == 0 && f->no_races && f->words.on & FAIL_ON_RACES)
			rc = cli_usage(state,
				       "--fail-on %s: this command shows no races; give suspicion, atomicity, unsampled or "
				       "unfinished",
				       arg);
		return rc;
	case KEY_CODE:
		return fail_on_read_code(arg, state, &f->code);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t diff_parser(int key, char *arg, struct argp_state *state)
{
	const struct fail_on *f = state->input;
	error_t rc = parser(key, arg, state);

	if (rc == 0 && fail_on_names_suspicions(f))
		return cli_usage(state,
				 "--fail-on %s: diff compares races only; `outrider locks --fail-on %s` looks at suspicions",
				 fail_on_suspicion_word(f), fail_on_suspicion_word(f));
	return rc;
}

static error_t locks_parser(int key, char *arg, struct argp_state *state)
{
	struct fail_on *f = state->input;

	f->no_races = true;
	return parser(key, arg, state);
}

const struct argp fail_on_argp = {.options = options, .parser = parser};
const struct argp fail_on_diff_argp = {.options = diff_options, .parser = diff_parser};
const struct argp fail_on_locks_argp = {.options = locks_options, .parser = locks_parser};

bool fail_on_is_asked(const struct fail_on *f)
{
	return f->words.on || f->words.off || f->code;
}

bool fail_on_names_suspicions(const struct fail_on *f)
{
	return f->words.on & ((unsigned)FAIL_ON_SUSPICION | FAIL_ON_ATOMICITY);
}

const char *fail_on_suspicion_word(const struct fail_on *f)
{
	return f->words.on & FAIL_ON_SUSPICION ? FAIL_WORD_SUSPICION : FAIL_WORD_ATOMICITY;
}

unsigned fail_on_what(const struct fail_on *f)
{
	return fail_words_bits(&f->words, f->no_races ? FAIL_ON_SUSPICION : FAIL_ON_HARMFUL, FAIL_ON_DOUBTS);
}

bool fail_on_race(const struct fail_on *f, const struct judged *j)
{
	unsigned what = fail_on_what(f);

	if (j->suppressed)
		return false;
	switch (j->verdict.class) {
	case VERDICT_HARMFUL:
		return what & FAIL_ON_RACES;
	case VERDICT_UNCLEAR:
		return what & ((unsigned)FAIL_ON_UNCLEAR | FAIL_ON_ANY_NEW);
	default:
		return what & FAIL_ON_ANY_NEW;
	}
}

bool fail_on_doubt(const struct fail_on *f, enum run_doubt doubt)
{
	if (doubt == RUN_SOUND)
		return false;
	return fail_on_what(f) & (doubt == RUN_UNFINISHED ? FAIL_ON_UNFINISHED : FAIL_ON_UNSAMPLED);
}

/*
 * Print the end of the line that says why the command fails: the exit status, and the word of --fail-on that causes it. Returns
 * the exit code.
 */
static int fails(const struct fail_on *f, const char *word)
{
	int code = f->code ? f->code : FAIL_ON_DEFAULT_CODE;

	fprintf(stderr, ": exit status %d (--fail-on %s)\n", code, word);
	return code;
}

static int races_code(const struct fail_on *f, const struct verdicts *v)
{
	unsigned what = fail_on_what(f);
	const char *word = what & FAIL_ON_ANY_NEW   ? FAIL_WORD_ANY_NEW
			   : what & FAIL_ON_UNCLEAR ? FAIL_WORD_UNCLEAR
						    : FAIL_WORD_HARMFUL;
	struct groups groups = {0};
	struct err err = {0};
	size_t n = 0, races = 0;
	int code = EXIT_OK;

	if (groups_find(&groups, v, &err) < 0) {
		code = cli_fail(&err);
		goto out;
	}
	for (size_t i = 0; i < groups.count; i++)
		n += fail_on_race(f, groups.list[i].lead);
	for (size_t i = 0; i < v->count; i++)
		races += fail_on_race(f, &v->list[i]);
	if (!n)
		goto out;
	fprintf(stderr, "outrider: %zu of %zu groups (%zu of %zu races) %s ", n, groups.count, races, v->count,
		n > 1 ? "are" : "is");
	if (what & FAIL_ON_ANY_NEW)
		fputs("not suppressed", stderr);
	else
		fprintf(stderr, "%s%s", n > 1 ? "harmful candidates" : "a harmful candidate",
			what & FAIL_ON_UNCLEAR ? " or unclear" : "");
	code = fails(f, word);
out:
	groups_free(&groups);
	return code;
}

static int suspicions_code(const struct fail_on *f, const struct fail_on_found *found)
{
	bool any = fail_on_what(f) & FAIL_ON_SUSPICION;
	size_t n = any ? found->suspicions : fail_on_what(f) & FAIL_ON_ATOMICITY ? found->atomicities : 0;

	if (!n)
		return EXIT_OK;
	fprintf(stderr, "outrider: %zu %ssuspicion%s", n, any ? "" : "atomicity ", n > 1 ? "s" : "");
	return fails(f, any ? FAIL_WORD_SUSPICION : FAIL_WORD_ATOMICITY);
}

static int complaints_code(const struct fail_on *f, const struct fail_on_found *found)
{
	size_t n = 0;

	for (size_t i = 0; i < found->run_count; i++)
		n += found->runs[i].complaints.count;
	if (!n || !(fail_on_what(f) & FAIL_ON_COMPLAINT))
		return EXIT_OK;
	fprintf(stderr, "outrider: the guest's kernel complained %zu time%s", n, n > 1 ? "s" : "");
	return fails(f, FAIL_WORD_COMPLAINT);
}

/*
 * Print why a run is in doubt. A word such as "no-unsampled" in --fail-on changes the exit code, but not whether this line is
 * printed. Returns the exit code.
 */
static int run_code(const struct fail_on *f, const struct run_facts *run, const char *file)
{
	enum run_doubt doubt = run_doubt(run);
	char line[CLEAN_FIELD_MAX], text[RUN_DOUBT_TEXT_MAX];

	if (doubt == RUN_SOUND)
		return EXIT_OK;
	run_doubt_text(run, text);
	snprintf(line, sizeof(line), "%s%s%s", file ? file : "", file ? ": " : "", text);
	clean_line(line, sizeof(line));
	fprintf(stderr, "outrider: %s", line);
	if (fail_on_doubt(f, doubt))
		return fails(f, run_doubt_word(doubt));
	fputc('\n', stderr);
	return EXIT_OK;
}

int fail_on_code(const struct fail_on *f, const struct fail_on_found *found)
{
	int code = EXIT_OK, one;

	if (!fail_on_is_asked(f))
		return EXIT_OK;
	for (size_t i = 0; i < found->run_count; i++) {
		one = run_code(f, &found->runs[i], found->files ? found->files[i] : NULL);
		code = one ? one : code;
	}
	one = complaints_code(f, found);
	code = one ? one : code;
	one = suspicions_code(f, found);
	code = one ? one : code;
	one = found->verdicts ? races_code(f, found->verdicts) : EXIT_OK;
	return one ? one : code;
}
