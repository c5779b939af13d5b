// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules are tried one after the other. The first that fits names the race. What makes the race worse orders it. */
#include <string.h>

#include "pruner/outcome.h"
#include "pruner/prune.h"
#include "pruner/raise.h"
#include "pruner/rules/rules.h"
#include "pruner/view.h"

static const struct {
	int from, to;
} ranks[] = {
	[VERDICT_HARMFUL] = {60, 99},
	[VERDICT_UNCLEAR] = {40, 59},
	[VERDICT_SYNCHRONISATION] = {20, 39},
	[VERDICT_BENIGN] = {0, 19},
};

/* First comes the rule that decides all races with devices, then rules that the code itself proves, then rules by what people
 * wrote down, then rules by patterns. What came of running the race in both orders is weighed behind them (pruner/outcome.h).
 */
static bool (*const rules_in_order[])(const struct view *v, struct verdict *out) = {
	rule_device,	      rule_given,	 rule_rcu,    rule_sequence,
	rule_broken_handover, rule_broken_given, rule_marked, rule_flags,
	rule_special,	      rule_named,	 rule_shown,  rule_counter,
	rule_double_check,    rule_same_value,	 rule_spin,   rule_doubtful_sequence,
	rule_handover,	      rule_queue,
};

const struct prune_rule_help prune_rule_help[] = {
	{"order-crashes", "harmful candidate: run in both orders, one ends in an oops, a warning, a panic or a hang"},
	{"marked-accesses",
	 "synchronisation: both sides are atomic_*(), READ_ONCE(), rcu_dereference() and the like; unclear if both write"},
	{"sequence-count",
	 "synchronisation: the reader asks a sequence count again, which the writer raises before and behind its store"},
	{"rcu-publication",
	 "synchronisation: a pointer is read in an RCU section, and what it led to is freed after a grace period; "
	 "unclear if only a part of this is seen"},
	{"changed-under-write-back", "benign: a system call changes a page that a disk is being given, and may"},
	{"safe-flag-update", "benign: one side looks at some bits, the other changes others"},
	{"special-variable", "benign: the datum is in a list of variables that race by design"},
	{"only-shown", "benign: all that becomes of what is read is that people see it"},
	{"statistics-counter", "benign: all that is done is adding, and it only grew; unclear on few instances"},
	{"double-checked-locking", "benign: tested without the lock, and again with it; unclear if the writer has none"},
	{"same-value-writes", "unclear, kept high: both sides store one value"},
	{"user-built-synchronisation", "unclear: a loop that waits for the other side's store"},
	{"handed-over", "unclear: a flag or pointer is stored behind the data, and tested before them"},
	{"ring-queue", "unclear: an index of a ring that seems to have one producer and one consumer"},
	{"approximate-computation", "unclear: in a list of data that is read for a rough figure"},
	{"both-values-valid", "unclear: in a list of data of which the old value is as good as the new"},
	{"freed-under-readers", "harmful candidate: what readers under RCU may hold is freed with no grace period"},
	{"reused-under-readers", "harmful candidate: what readers under RCU may hold is used again with no grace period"},
	{"reader-outside-rcu", "harmful candidate: a pointer that RCU guards is read in no section"},
	{"device-not-awaited", "harmful candidate: a CPU accesses a buffer that a device has"},
	{"reference-count", "harmful candidate: an object's life depends on the count"},
	{"freed-afterwards", "harmful candidate: one side may free an object behind its access"},
	{"lost-update", "harmful candidate: a store undoes the other side's"},
	{"lock-on-one-side", "harmful candidate: one side holds a lock, the other takes none"},
	{"no-common-lock", "harmful candidate: both sides hold locks, and none of them keeps the two apart"},
	{"pointer", "harmful candidate: the datum is a pointer"},
	{"dangerous-datum", "harmful candidate: linkage, a length or the like, by a list of names"},
	{"value-used", "harmful candidate: what is read decides a branch or an address"},
	{"state-change", "harmful candidate: run in both orders, they lead to states that differ"},
	{"replay-failure", "harmful candidate: one order leads to a fault, a warning, a deadlock or no end"},
	{"no-state-change",
	 "benign or unclear: run in both orders often enough, they lead to the same state, and no rule says otherwise"},
	{"not-handed-over", "harmful candidate: a flag or pointer hands over data that were seen racing"},
	{"torn", "harmful candidate: a part of a store may be seen"},
	{"interrupt-against-task", "harmful candidate: an interrupt against a task"},
	{"one-side-marked", "harmful candidate: a marked access against a plain one"},
	{"no-benign-pattern", "harmful candidate: nothing above"},
	{NULL, NULL},
};

static void no_pattern(const struct view *v, struct verdict *out)
{
	out->class = VERDICT_HARMFUL;
	out->rule = NULL;
	if (!v->race->first.sides[1].known)
		verdict_evidence(out, "no benign pattern fits %s; who writes was not seen", v->datum);
	else
		verdict_evidence(out, "no benign pattern fits %s", v->datum);
}

/* What makes a pruned race worse orders the race, but is no evidence. */
static int add_up(const struct view *v, struct verdict *out, const char **worst)
{
	struct verdict unsaid = {0};
	bool pruned = out->class == VERDICT_BENIGN || out->class == VERDICT_SYNCHRONISATION;

	return raise_points(v, pruned ? &unsaid : out, worst);
}

static void judge(const struct view *v, struct verdict *out)
{
	const char *worst = NULL;
	bool fits = false;
	int points, room;

	for (size_t i = 0; i < sizeof(rules_in_order) / sizeof(rules_in_order[0]) && !fits; i++)
		fits = rules_in_order[i](v, out);
	if (!fits)
		no_pattern(v, out);
	points = add_up(v, out, &worst);
	if (!out->rule)
		out->rule = worst ? worst : "no-benign-pattern";
	/* DataCollider's authors would not prune this pattern, so it stands at the head of its class. */
	if (strcmp(out->rule, "same-value-writes") == 0)
		points += 15;
	points = outcome_weigh(v->race, out, points);
	room = ranks[out->class].to - ranks[out->class].from;
	out->rank = ranks[out->class].from + (points < room ? points : room);
}

void prune_race(const struct prune_rules *rules, const struct race *race, struct verdict *out)
{
	prune_race_among(rules, NULL, race, out);
}

void prune_race_among(const struct prune_rules *rules, const struct company *company, const struct race *race,
		      struct verdict *out)
{
	struct view *v = view_new(rules, company, race);

	*out = (struct verdict){.class = VERDICT_UNCLEAR, .rule = "no-benign-pattern", .rank = ranks[VERDICT_UNCLEAR].to};
	if (v)
		judge(v, out);
	else
		verdict_evidence(out, "memory ran out before this race was looked at");
	view_free(v);
}
