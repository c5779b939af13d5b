// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Applies the table of rules to a race. The first rule that fits names the race. The facts of raise.h then give its rank, and
 * the outcomes of running both orders are weighed next (pruner/rules/outcome.h), and the kernel's complaints last
 * (pruner/rules/complained.h).
 */
#include "pruner/rules/complained.h"
#include "pruner/rules/outcome.h"
#include "pruner/prune.h"
#include "pruner/rules/raise.h"
#include "pruner/rules/rule.h"
#include "pruner/patterns/section.h"
#include "pruner/patterns/view.h"

static const struct {
	int from, to;
} ranks[] = {
	[VERDICT_HARMFUL] = {60, 99},
	[VERDICT_UNCLEAR] = {40, 59},
	[VERDICT_SYNCHRONISATION] = {20, 39},
	[VERDICT_BENIGN] = {0, 19},
};

/* Append to the evidence that no benign pattern fits. Before that, the evidence has the facts that make the race worse. */
static void no_pattern(const struct view *v, struct verdict *out)
{
	if (out->evidence[0])
		verdict_evidence(out, "; no benign pattern fits");
	else
		verdict_evidence(out, "no benign pattern fits %s", v->datum);
	if (v->race->first.sides[1].kind != RACE_SIDE_CPU)
		verdict_evidence(out, "; the writer was not seen");
}

/* Add up the points of all facts. For a race that a rule prunes, the facts change only the rank, and not the evidence. */
static int add_up(const struct view *v, struct verdict *out, enum rule_id *worst)
{
	struct verdict unsaid = {0};
	bool pruned = out->class == VERDICT_BENIGN || out->class == VERDICT_SYNCHRONISATION;

	return raise_points(v, pruned ? &unsaid : out, worst);
}

/* Try the rules in the order of rule.h. Returns whether one fits. */
static bool apply_rules(const struct view *v, struct verdict *out)
{
	for (unsigned stage = 0; stage < RULE_STAGES; stage++) {
		for (unsigned i = 0; i < RULE_COUNT; i++) {
			if (rule_table[i].apply[stage] && rule_table[i].apply[stage](v, out))
				return true;
		}
	}
	return false;
}

static void judge(const struct view *v, struct verdict *out)
{
	enum rule_id worst;
	bool fits = apply_rules(v, out);
	int points, room;

	if (!fits)
		*out = (struct verdict){.class = VERDICT_HARMFUL};
	points = add_up(v, out, &worst);
	if (!fits) {
		out->rule = worst;
		no_pattern(v, out);
	}
	points = outcome_weigh(v->race, out, points + rule_table[out->rule].points);
	points = complained_weigh(v, out, points);
	out->section = section_of_writer(v);
	room = ranks[out->class].to - ranks[out->class].from;
	out->rank = ranks[out->class].from + (points < room ? points : room);
}

void prune_race(const struct prune_rules *rules, const struct race *race, struct verdict *out)
{
	prune_race_among(rules, NULL, race, out);
}

void prune_race_among(const struct prune_rules *rules, const struct related *related, const struct race *race,
		      struct verdict *out)
{
	struct view *v = view_new(rules, related, race);

	*out = (struct verdict){.class = VERDICT_UNCLEAR, .rule = RULE_NO_BENIGN_PATTERN, .rank = ranks[VERDICT_UNCLEAR].to};
	if (v)
		judge(v, out);
	else
		verdict_evidence(out, "memory ran out before this race was judged");
	view_free(v);
}
