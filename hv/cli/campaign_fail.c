// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/campaign_fail.h"

#include <stdio.h>

#include "hv/cli/choice.h"
#include "hv/cli/fail_on.h"

enum campaign_fail_key { KEY_FAIL_ON = 0x400, KEY_CODE };

static const struct argp_option options[] = {
	{"fail-on", KEY_FAIL_ON, "WHAT", 0,
	 "exit with a status of its own when a race is worse than before: new, back, or of a worse class, and not marked "
	 "as known or wontfix. new-harmful counts harmful candidates, new-unclear also unclear races, and new races of any "
	 "class. finding counts runs that ended with a finding, and new-finding those whose finding no earlier round has. "
	 "May be given several times",
	 CAMPAIGN_FAIL_GROUP},
	{"error-exitcode", KEY_CODE, "N", 0, "the exit status of --fail-on (default 1); alone, it means --fail-on new-harmful",
	 CAMPAIGN_FAIL_GROUP},
	{0},
};

enum what { NEW_HARMFUL, NEW_UNCLEAR, NEW, NEW_FINDING, FINDING, WHATS };

static const char *const words[WHATS] = {"new-harmful", "new-unclear", "new", "new-finding", "finding"};

static const char *fail_word(size_t i)
{
	return i < WHATS ? words[i] : NULL;
}

const struct cli_choice campaign_fails = {"WHAT", fail_word};

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct campaign_fail *f = state->input;
	size_t index;
	error_t rc;

	switch (key) {
	case KEY_FAIL_ON:
		rc = cli_choose(state, &campaign_fails, "fail-on", arg, &index);
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

/* Returns the number of races and findings that match one word of --fail-on, `what`. */
static size_t count(const struct summary *m, enum what what)
{
	static const enum summary_class worst[] = {
		[NEW_HARMFUL] = SUMMARY_HARMFUL, [NEW_UNCLEAR] = SUMMARY_UNJUDGED, [NEW] = SUMMARY_CLASSES};
	size_t n = 0;

	if (what == FINDING)
		return m->finding_count;
	for (size_t i = 0; what == NEW_FINDING && i < m->finding_count; i++)
		n += m->findings[i].is_new;
	for (size_t i = 0; what <= NEW && i < m->race_count; i++)
		n += summary_is_worse(&m->races[i]) && m->races[i].verdict.class <= worst[what];
	return n;
}

int campaign_fail_code(const struct campaign_fail *f, const struct summary *m)
{
	static const char *const nouns[WHATS][2] = {
		[NEW_HARMFUL] = {"race that is worse than before is a harmful candidate",
				 "races that are worse than before are harmful candidates"},
		[NEW_UNCLEAR] = {"race that is worse than before is a harmful candidate or unclear",
				 "races that are worse than before are harmful candidates or unclear"},
		[NEW] = {"race is worse than before", "races are worse than before"},
		[NEW_FINDING] = {"finding is new", "findings are new"},
		[FINDING] = {"finding", "findings"},
	};
	unsigned what = f->what ? f->what : f->code ? 1u << NEW_HARMFUL : 0;
	int code = f->code ? f->code : FAIL_ON_DEFAULT_CODE, result = EXIT_OK;

	for (int i = 0; i < WHATS; i++) {
		size_t n = what & 1u << i ? count(m, (enum what)i) : 0;

		if (!n)
			continue;
		fprintf(stderr, "outrider: %zu %s: exit status %d (--fail-on %s)\n", n, nouns[i][n > 1], code, words[i]);
		result = code;
	}
	return result;
}
