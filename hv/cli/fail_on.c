// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/fail_on.h"

#include <stdio.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/cli/choice.h"

enum fail_on_key { KEY_FAIL_ON = 0x400, KEY_CODE };

static const struct argp_option options[] = {
	{"fail-on", KEY_FAIL_ON, "RACES", 0,
	 "exit with a status of its own when a race is found that is not suppressed and is a harmful candidate (harmful), is a "
	 "harmful candidate or unclear (unclear), or has any verdict (any-new)",
	 FAIL_ON_GROUP},
	{"error-exitcode", KEY_CODE, "N", 0, "the exit status of --fail-on (default 1); alone, it means --fail-on harmful",
	 FAIL_ON_GROUP},
	{0},
};

/* The words of --fail-on, indexed by enum fail_on_what - 1. */
static const char *const words[] = {"harmful", "unclear", "any-new"};

static const char *fail_on_word(size_t i)
{
	return i < sizeof(words) / sizeof(words[0]) ? words[i] : NULL;
}

const struct cli_choice fail_on_choice = {"RACES", fail_on_word};

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
	size_t index;
	error_t rc;

	switch (key) {
	case KEY_FAIL_ON:
		rc = cli_choose(state, &fail_on_choice, "fail-on", arg, &index);
		if (rc == 0)
			f->what = (enum fail_on_what)(index + 1);
		return rc;
	case KEY_CODE:
		return fail_on_read_code(arg, state, &f->code);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp fail_on_argp = {.options = options, .parser = parser};

bool fail_on_is_asked(const struct fail_on *f)
{
	return f->what != FAIL_ON_NOTHING || f->code;
}

static enum fail_on_what what_fails(const struct fail_on *f)
{
	return f->what ? f->what : FAIL_ON_HARMFUL;
}

bool fail_on_race(const struct fail_on *f, const struct judged *j)
{
	enum fail_on_what what = what_fails(f);

	if (j->suppressed)
		return false;
	switch (j->verdict.class) {
	case VERDICT_HARMFUL:
		return true;
	case VERDICT_UNCLEAR:
		return what != FAIL_ON_HARMFUL;
	default:
		return what == FAIL_ON_ANY_NEW;
	}
}

int fail_on_code(const struct fail_on *f, const struct verdicts *v)
{
	static const char *const phrases[][2] = {
		[FAIL_ON_HARMFUL] = {"is a harmful candidate", "are harmful candidates"},
		[FAIL_ON_UNCLEAR] = {"is a harmful candidate or unclear", "are harmful candidates or unclear"},
		[FAIL_ON_ANY_NEW] = {"is not suppressed", "are not suppressed"},
	};
	enum fail_on_what what = what_fails(f);
	int code = f->code ? f->code : FAIL_ON_DEFAULT_CODE;
	size_t n = 0;

	if (!fail_on_is_asked(f))
		return EXIT_OK;
	for (size_t i = 0; i < v->count; i++)
		n += fail_on_race(f, &v->list[i]);
	if (!n)
		return EXIT_OK;
	fprintf(stderr, "outrider: %zu of %zu races %s: exit status %d (--fail-on %s)\n", n, v->count, phrases[what][n > 1],
		code, words[what - 1]);
	return code;
}

void fail_on_doubt(const struct fail_on *f, const struct run_facts *run, const char *file)
{
	char line[CLEAN_FIELD_MAX];
	const char *doubt = NULL;

	if (!run->finished)
		doubt = "the run is not finished: only what was found so far is looked at";
	else if (!run->sampled_ns)
		doubt = "nothing was sampled in this run, so it says nothing about the kernel";
	if (!doubt || !fail_on_is_asked(f))
		return;
	snprintf(line, sizeof(line), "%s: %s", file, doubt);
	cli_message(line);
}
