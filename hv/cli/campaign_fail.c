// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses --fail-on and --error-exitcode of the commands that list a round, and decides their exit status by what the round
 * found.
 */
#include "hv/cli/campaign_fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/cli/choice.h"
#include "hv/cli/fail_on.h"

enum campaign_fail_key { KEY_FAIL_ON = 0x400, KEY_CODE };

static const struct argp_option options[] = {
	{"fail-on", KEY_FAIL_ON, "WHAT", 0,
	 "exit with a status of its own when a race is worse than before: new, back, or of a worse class, and not marked "
	 "as known or wontfix. new-harmful counts harmful candidates, new-unclear also unclear races, and any-new races of any "
	 "class. finding counts findings of runs, new-finding those that no earlier round has, complaint what guests' "
	 "kernels complained of, and limit runs that exceeded a limit. Whatever WHAT is, runs that failed, left no finished "
	 "report or sampled nothing count, too, and so does a "
	 "round "
	 "that is not finished. May be given several times",
	 CAMPAIGN_FAIL_GROUP},
	{"error-exitcode", KEY_CODE, "N", 0, "the exit status of --fail-on (default 1); alone, it means --fail-on new-harmful",
	 CAMPAIGN_FAIL_GROUP},
	{0},
};

static const char *fail_word(size_t i)
{
	return i < GATE_WHATS ? gate_word((enum gate_what)i) : NULL;
}

const struct cli_choice campaign_fails = {"WHAT", fail_word};

/* Returns the value of --fail-on that replaces `arg`, if `arg` is a value of older versions of outrider; else `arg`. */
static const char *word_of(const char *arg)
{
	return strcmp(arg, "new") == 0 || strcmp(arg, "new-race") == 0 ? gate_word(GATE_ANY_NEW) : arg;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct campaign_fail *f = state->input;
	size_t index;
	error_t rc;

	switch (key) {
	case KEY_FAIL_ON:
		rc = cli_choose(state, &campaign_fails, "fail-on", word_of(arg), &index);
		if (rc == 0)
			f->what |= 1u << index;
		return rc;
	case KEY_CODE:
		return fail_on_read_code(arg, state, &f->code);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp campaign_fail_argp = {.options = options, .parser = parser};

/*
 * Print in one line why the command fails: the sentence about the round that put() writes, the exit status `code`, and
 * `source`, the option or the campaign file that asked for this failure.
 */
static void say(const struct summary *m, void (*put)(FILE *out, const struct summary *m, enum gate_what what),
		enum gate_what what, int code, const char *source)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	put(out, m, what);
	if (fclose(out) == 0)
		fprintf(stderr, "outrider: %s: exit status %d (%s)\n", text, code, source);
	free(text);
}

static void put_state(FILE *out, const struct summary *m, enum gate_what what)
{
	(void)what;
	gate_put_state(out, m);
}

int campaign_fail_gate(const struct summary *m, unsigned asked, int code, const char *source)
{
	char words[64];

	if (gate_passes(m, asked))
		return EXIT_OK;
	if (gate_state(&m->ends, m->unfinished) != GATE_COMPLETE)
		say(m, put_state, GATE_ANY_NEW, code, source);
	for (int i = 0; i < GATE_WHATS; i++) {
		if (!(asked & 1u << i) || !gate_count(m, (enum gate_what)i))
			continue;
		snprintf(words, sizeof(words), "%s %s", source, gate_word((enum gate_what)i));
		say(m, gate_put_count, (enum gate_what)i, code, words);
	}
	return code;
}

int campaign_fail_code(const struct campaign_fail *f, const struct summary *m)
{
	unsigned asked = f->what ? f->what : f->code ? 1u << GATE_NEW_HARMFUL : 0;

	return asked ? campaign_fail_gate(m, asked, f->code ? f->code : FAIL_ON_DEFAULT_CODE, "--fail-on") : EXIT_OK;
}
