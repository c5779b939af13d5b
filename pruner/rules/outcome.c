// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/rules/outcome.h"

#include <inttypes.h>
#include <string.h>

#include "hv/report/replay.h"

#define CRASH_POINTS 39 /* More than any other fact, so that the race leads its class. */
#define CHANGE_POINTS 7

/*
 * The verdict after OUTCOME_ENOUGH instances without a state change. A rule that is not in this list has found something that
 * equal states do not refute: for example an object that is freed after the regions end, or a store of one value by both
 * sides, which is equal in either order.
 */
static const struct fold {
	enum verdict_class from;
	const char *rule;
	enum verdict_class to;
} folds[] = {
	/* The paper found no state change for these kinds (section 5.4). */
	{VERDICT_UNCLEAR, "user-built-synchronisation", VERDICT_BENIGN},
	{VERDICT_UNCLEAR, "double-checked-locking", VERDICT_BENIGN},
	{VERDICT_UNCLEAR, "both-values-valid", VERDICT_BENIGN},
	/*
	 * No rule knows anything about such a race, and many of the recorded harmful races are of this kind. So it only gets a
	 * lower rank, and stays unfolded.
	 */
	{VERDICT_HARMFUL, "no-benign-pattern", VERDICT_UNCLEAR},
};

static const struct fold *fold_of(const struct verdict *v)
{
	for (size_t i = 0; i < sizeof(folds) / sizeof(folds[0]); i++) {
		if (folds[i].from == v->class && strcmp(folds[i].rule, v->rule) == 0)
			return &folds[i];
	}
	return NULL;
}

/* Returns whether both orders of the kept instance continued after their regions without trouble. */
static bool continued_without_trouble(const struct replay_instance *instance)
{
	for (int i = 0; i < 2; i++) {
		if (replay_in_trouble(&instance->orders[i]) || instance->orders[i].machine == REPLAY_MACHINE_NOT_RUN)
			return false;
	}
	return true;
}

/* Put what the outcomes say before what the rules say, and give the verdict another class and rule. */
static void take_over(struct verdict *out, enum verdict_class class, const char *rule, const char *line)
{
	const struct verdict by_rules = *out;

	*out = (struct verdict){.class = class, .rule = rule};
	verdict_evidence(out, "%s; by its code alone the race is %s (%s): %s", line, verdict_class_word(by_rules.class),
			 by_rules.rule, by_rules.evidence);
}

static int crash(const char *line, struct verdict *out)
{
	take_over(out, VERDICT_HARMFUL, "order-crashes", line);
	return CRASH_POINTS;
}

static int change(const char *const said[2], const char *rule, struct verdict *out, int points)
{
	verdict_evidence(out, "; %s%s%s", said[0], said[1] ? "; " : "", said[1] ? said[1] : "");
	if (strcmp(out->rule, "no-benign-pattern") == 0)
		out->rule = rule;
	return points + CHANGE_POINTS;
}

static int no_change(const struct race_replay *replay, const char *line, struct verdict *out, int points)
{
	const struct fold *fold = fold_of(out);

	if (replay->count[REPLAY_NO_STATE_CHANGE] < OUTCOME_ENOUGH)
		verdict_evidence(out, "; %s, fewer than the %" PRIu64 " instances that would count", line, OUTCOME_ENOUGH);
	else if (!continued_without_trouble(&replay->telling))
		verdict_evidence(out, "; %s, but in the kept instance not both orders ran on without trouble", line);
	else if (!fold)
		verdict_evidence(out, "; %s, which does not refute the rule", line);
	else
		take_over(out, fold->to, "no-state-change", line);
	return points;
}

int outcome_weigh(const struct race *race, struct verdict *out, int points)
{
	char lines[REPLAY_LINES_MAX][REPLAY_LINE_MAX];
	unsigned n = replay_lines(race, lines);
	const char *const said[2] = {lines[0], n > 1 ? lines[n - 1] : NULL};

	if (n == 0)
		return points;
	if (race->replay->one_troubled)
		return crash(lines[1], out);
	switch (replay_outcome(race->replay)) {
	case REPLAY_STATE_CHANGE:
		return change(said, "state-change", out, points);
	case REPLAY_NO_STATE_CHANGE:
		return no_change(race->replay, lines[0], out, points);
	default:
		break;
	}
	if (race->replay->not_run < race->replay->count[REPLAY_FAILURE])
		return change(said, "replay-failure", out, points);
	verdict_evidence(out, "; %s", lines[0]);
	return points;
}
