// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Judges a race by the table of rules. The first rule that fits gives the verdict's class. Then the facts that
 * pruner/rules/raise.h finds about the race give the rank, the outcomes of running both orders may change the verdict
 * (pruner/rules/outcome.h), and last, the complaints of the guest's kernel may change the verdict (pruner/rules/complained.h).
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

/* Append "no benign pattern fits" to the evidence, after the facts that make the race worse. */
static void no_pattern(const struct view *v, struct verdict *out)
{
	if (out->evidence[0])
		verdict_evidence(out, "; no benign pattern fits");
	else
		verdict_evidence(out, "no benign pattern fits %s", v->datum);
	if (v->race->first.sides[1].kind != RACE_SIDE_CPU)
		verdict_evidence(out, "; the writer was not seen");
}

/*
 * Add up the points of all facts. If a rule found the race benign or synchronisation, the facts lead to a higher rank within
 * this class, but are not added to the evidence.
 */
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
