// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes a verdict by what happened when the race was run in both orders (see outcome.h). */
#include "pruner/rules/outcome.h"

#include <inttypes.h>

#include "hv/report/replay.h"
#include "pruner/rules/rule.h"

/*
 * Points that raise a rank. CRASH_POINTS is the maximum: harmful candidates begin at rank 60, and 99 is the highest rank.
 * CHANGE_POINTS lies between the points for a torn access and those for a lost update (raise.c).
 */
#define CRASH_POINTS 39
#define CHANGE_POINTS 7

/* Returns whether both orders of the kept instance continued after their regions without trouble. */
static bool continued_without_trouble(const struct replay_instance *instance)
{
	for (int i = 0; i < 2; i++) {
		if (replay_in_trouble(&instance->orders[i]) || instance->orders[i].machine == REPLAY_MACHINE_NOT_RUN)
			return false;
	}
	return true;
}

/* Give the verdict another class and rule. The evidence then begins with `line`, and ends with the verdict of the rules. */
static void take_over(struct verdict *out, enum verdict_class class, enum rule_id rule, const char *line)
{
	const struct verdict by_rules = *out;

	*out = (struct verdict){.class = class, .rule = rule};
	verdict_evidence(out, "%s; by its code alone the race is %s (%s): %s", line, verdict_class_word(by_rules.class),
			 rule_name(by_rules.rule), by_rules.evidence);
}

static int crash(const char *line, struct verdict *out)
{
	take_over(out, VERDICT_HARMFUL, RULE_ORDER_CRASHES, line);
	return CRASH_POINTS;
}

static int change(const char *const said[2], enum rule_id rule, struct verdict *out, int points)
{
	verdict_evidence(out, "; %s%s%s", said[0], said[1] ? "; " : "", said[1] ? said[1] : "");
	if (out->rule == RULE_NO_BENIGN_PATTERN)
		out->rule = rule;
	return points + CHANGE_POINTS;
}

/*
 * Returns whether instances without a state change can make the verdict milder. They can if the class is harmful candidate or
 * unclear. The class is tested and not the rule, since one rule may give several classes.
 */
static bool is_doubted(const struct verdict *v)
{
	return v->class == VERDICT_HARMFUL || v->class == VERDICT_UNCLEAR;
}

static int no_change(const struct race_replay *replay, const char *line, struct verdict *out, int points)
{
	if (replay->count[REPLAY_NO_STATE_CHANGE] < OUTCOME_ENOUGH)
		verdict_evidence(out, "; %s, fewer than the %" PRIu64 " instances that a milder verdict needs", line,
				 OUTCOME_ENOUGH);
	else if (!continued_without_trouble(&replay->telling))
		verdict_evidence(out, "; %s, but in the kept instance at least one order ended in trouble or was not run on",
				 line);
	else if (!rule_table[out->rule].refuted_by_equal_states || !is_doubted(out))
		verdict_evidence(out, "; %s, which does not refute the rule", line);
	else
		take_over(out, out->class == VERDICT_HARMFUL ? VERDICT_UNCLEAR : VERDICT_BENIGN, RULE_NO_STATE_CHANGE, line);
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
		return change(said, RULE_STATE_CHANGE, out, points);
	case REPLAY_NO_STATE_CHANGE:
		return no_change(race->replay, lines[0], out, points);
	default:
		break;
	}
	if (race->replay->not_run < race->replay->count[REPLAY_FAILURE])
		return change(said, RULE_REPLAY_FAILURE, out, points);
	verdict_evidence(out, "; %s", lines[0]);
	return points;
}
