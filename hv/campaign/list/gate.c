// SPDX-License-Identifier: GPL-2.0-or-later
/* The gate of a round: whether the round is complete, and which results make a command fail. */
#include "hv/campaign/list/gate.h"

#include <inttypes.h>

#include "hv/campaign/list/ends_text.h"

static const char *const words[GATE_WHATS] = {
	[GATE_NEW_HARMFUL] = "new-harmful", [GATE_NEW_UNCLEAR] = "new-unclear", [GATE_ANY_NEW] = "any-new",
	[GATE_NEW_FINDING] = "new-finding", [GATE_FINDING] = "finding",		[GATE_LIMIT] = "limit",
	[GATE_COMPLAINT] = "complaint",
};

const char *gate_word(enum gate_what what)
{
	return words[what];
}

enum gate_state gate_state(const struct store_ends *ends, bool unfinished)
{
	if (unfinished)
		return GATE_UNFINISHED;
	/*
	 * If no run has ended, for example because the budget was too short, both numbers are 0, and the round has failed, too.
	 */
	if (ends->failed == ends->ended)
		return GATE_FAILED;
	return ends->failed ? GATE_PARTLY : GATE_COMPLETE;
}

const char *gate_state_word(enum gate_state state)
{
	static const char *const state_words[GATE_STATES] = {
		[GATE_COMPLETE] = "complete",
		[GATE_PARTLY] = "partly failed",
		[GATE_FAILED] = "failed",
		[GATE_UNFINISHED] = "unfinished",
	};

	return state_words[state];
}

static size_t count_findings(const struct summary *m, enum gate_what what)
{
	size_t n = 0;

	for (size_t i = 0; i < m->finding_count; i++) {
		int kind = store_outcome_from_word(m->findings[i].kind);

		if (kind < 0 || !ends_is_finding((enum store_outcome)kind))
			continue;
		if (what == GATE_COMPLAINT) {
			n += kind == STORE_COMPLAINT || kind == STORE_LOCKUP || kind == STORE_PANIC;
			continue;
		}
		n += what == GATE_FINDING || (what == GATE_NEW_FINDING && m->findings[i].is_new);
	}
	return n;
}

size_t gate_count(const struct summary *m, enum gate_what what)
{
	static const enum summary_class least[] = {
		[GATE_NEW_HARMFUL] = SUMMARY_HARMFUL, [GATE_NEW_UNCLEAR] = SUMMARY_UNJUDGED, [GATE_ANY_NEW] = SUMMARY_BENIGN};
	size_t n = 0;

	if (what == GATE_LIMIT)
		return (size_t)m->ends.limited;
	if (what == GATE_NEW_FINDING || what == GATE_FINDING || what == GATE_COMPLAINT)
		return count_findings(m, what);
	for (size_t i = 0; i < m->race_count; i++)
		n += summary_is_worse(&m->races[i]) && m->races[i].verdict.class <= least[what];
	return n;
}

bool gate_passes(const struct summary *m, unsigned asked)
{
	if (gate_state(&m->ends, m->unfinished) != GATE_COMPLETE)
		return false;
	for (int what = 0; what < GATE_WHATS; what++) {
		if (asked & 1u << what && gate_count(m, (enum gate_what)what))
			return false;
	}
	return true;
}

/* ---- sentences ---- */

static void put_unfinished(FILE *out, const struct summary *m)
{
	struct summary_round total = summary_total(m);
	bool left = total.runs > total.done || !m->missing_shards;

	fputs("the round is not finished: ", out);
	if (left)
		fprintf(out, "%u of %u runs are not done", total.runs - total.done, total.runs);
	if (m->missing_shards)
		fprintf(out, "%s%" PRIu64 " shard%s missing", left ? ", and " : "", m->missing_shards,
			m->missing_shards == 1 ? " is" : "s are");
}

void gate_put_state(FILE *out, const struct summary *m)
{
	switch (gate_state(&m->ends, m->unfinished)) {
	case GATE_UNFINISHED:
		put_unfinished(out, m);
		break;
	case GATE_FAILED:
		fputs("no run of the round gave an answer: ", out);
		if (m->ends.ended)
			list_failures_put(out, &m->ends);
		else
			fputs("none has ended", out);
		break;
	case GATE_PARTLY:
		fprintf(out, "%" PRIu64 " of %" PRIu64 " runs gave no answer: ", m->ends.failed, m->ends.ended);
		list_failures_put(out, &m->ends);
		break;
	default:
		break;
	}
}

void gate_put_count(FILE *out, const struct summary *m, enum gate_what what)
{
	static const char *const nouns[GATE_WHATS][2] = {
		[GATE_NEW_HARMFUL] = {"race that is new or worse than before is a harmful candidate",
				      "races that are new or worse than before are harmful candidates"},
		[GATE_NEW_UNCLEAR] = {"race that is new or worse than before is a harmful candidate or unclear",
				      "races that are new or worse than before are harmful candidates or unclear"},
		[GATE_ANY_NEW] = {"race is new or worse than before", "races are new or worse than before"},
		[GATE_NEW_FINDING] = {"finding is new", "findings are new"},
		[GATE_FINDING] = {"finding", "findings"},
		[GATE_LIMIT] = {"run exceeded a limit", "runs exceeded a limit"},
		[GATE_COMPLAINT] = {"complaint of guests' kernels", "complaints of guests' kernels"},
	};
	size_t n = gate_count(m, what);

	fprintf(out, "%zu %s", n, nouns[what][n != 1]);
}
