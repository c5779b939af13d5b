// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Applies the rules to a race in their order. The first rule that fits names the race. The facts of raise.h then give its
 * rank.
 */
#include <string.h>

#include "pruner/rules/outcome.h"
#include "pruner/prune.h"
#include "pruner/rules/raise.h"
#include "pruner/rules/rules.h"
#include "pruner/patterns/view.h"

static const struct {
	int from, to;
} ranks[] = {
	[VERDICT_HARMFUL] = {60, 99},
	[VERDICT_UNCLEAR] = {40, 59},
	[VERDICT_SYNCHRONISATION] = {20, 39},
	[VERDICT_BENIGN] = {0, 19},
};

/*
 * The order of the rules. The rule for devices decides all races with devices, so it comes first. Then come rules that the
 * code itself proves, then rules by lists that people wrote, then rules by patterns. The outcomes of running both orders are
 * weighed last (pruner/rules/outcome.h).
 */
static bool (*const rules_in_order[])(const struct view *v, struct verdict *out) = {
	rule_device,
	rule_handoff_pointer,
	rule_rcu,
	rule_seqcount,
	rule_broken_handoff_flag,
	rule_broken_handoff_pointer,
	rule_marked,
	rule_flags,
	rule_special,
	rule_approximate,
	rule_both_valid,
	rule_shown,
	rule_counter,
	rule_double_check,
	rule_same_value,
	rule_spin,
	rule_doubtful_seqcount,
	rule_handoff_flag,
	rule_queue,
};

const struct prune_rule_help prune_rule_help[] = {
	{"order-crashes", "harmful candidate: run in both orders, one ends in an oops, a warning, a panic or a hang"},
	{"marked-accesses",
	 "synchronisation: both sides are atomic_*(), READ_ONCE(), rcu_dereference() and the like; unclear if both write"},
	{"sequence-count",
	 "synchronisation: the reader checks a sequence count again, and the writer adds 1 to it before and after its store"},
	{"rcu-publication",
	 "synchronisation: a pointer is read in an RCU section, and its old object is freed after a grace period; "
	 "unclear if the code shows only a part of this"},
	{"changed-under-write-back",
	 "benign: a system call changes a page during its write-back, where neither file system nor disk forbids that"},
	{"safe-flag-update", "benign: one side uses some bits of a word, the other changes only other bits"},
	{"special-variable", "benign: the datum is in a list of variables that race by design"},
	{"only-shown", "benign: the value that is read is only printed for people"},
	{"statistics-counter", "benign: both sides only add or read, and the number only grew; unclear with few instances"},
	{"double-checked-locking", "benign: tested without the lock, and again with it; unclear if the writer holds none"},
	{"same-value-writes", "unclear, kept high: both sides store one value"},
	{"user-built-synchronisation", "unclear: a loop that waits for the other side's store"},
	{"handed-over", "unclear: one side stores a flag or pointer after the data, the other tests it before them"},
	{"ring-queue", "unclear: an index of a ring that seems to have one producer and one consumer"},
	{"approximate-computation", "unclear: in a list of data that code reads for an estimate"},
	{"both-values-valid", "unclear: in a list of data whose old and new value are both correct"},
	{"freed-under-readers", "harmful candidate: an object that RCU readers may access is freed without a grace period"},
	{"reused-under-readers",
	 "harmful candidate: an object that RCU readers may access is used again without a grace period"},
	{"reader-outside-rcu", "harmful candidate: a pointer that RCU guards is read or used outside a section"},
	{"device-not-awaited", "harmful candidate: a CPU accesses a buffer of a request that its device has not finished"},
	{"reference-count", "harmful candidate: an object's life depends on the count"},
	{"freed-afterwards", "harmful candidate: one side may free an object after its access"},
	{"lost-update", "harmful candidate: a store undoes the other side's"},
	{"lock-on-one-side", "harmful candidate: one side holds a lock, the other takes none"},
	{"no-common-lock", "harmful candidate: both sides hold locks, but no common one"},
	{"pointer", "harmful candidate: the datum is a pointer"},
	{"dangerous-datum", "harmful candidate: linkage, a length or the like, by a list of names"},
	{"value-used", "harmful candidate: a branch or an address depends on the value that is read"},
	{"state-change", "harmful candidate: run in both orders, they lead to different states"},
	{"replay-failure", "harmful candidate: one order leads to a fault, a warning or a deadlock, or does not end"},
	{"no-state-change",
	 "benign or unclear: run in both orders in 44 instances or more, they lead to equal states, and no rule refutes that"},
	{"not-handed-over", "harmful candidate: a flag or pointer hands data over, but a race on these data was seen"},
	{"torn", "harmful candidate: one side may see a part of a store"},
	{"interrupt-against-task", "harmful candidate: an interrupt against a task"},
	{"one-side-marked", "harmful candidate: a marked access against a plain one"},
	{"no-benign-pattern", "harmful candidate: no rule above fits"},
	{NULL, NULL},
};

/* The evidence begins with the facts that make the race worse, and ends with this. */
static void no_pattern(const struct view *v, struct verdict *out)
{
	if (out->evidence[0])
		verdict_evidence(out, "; no benign pattern fits");
	else
		verdict_evidence(out, "no benign pattern fits %s", v->datum);
	if (!v->race->first.sides[1].known)
		verdict_evidence(out, "; the writer was not seen");
}

/* Add up the points. For a race that the rules prune, the facts only decide the rank and do not join the evidence. */
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
		*out = (struct verdict){.class = VERDICT_HARMFUL};
	points = add_up(v, out, &worst);
	if (!fits) {
		out->rule = worst ? worst : "no-benign-pattern";
		no_pattern(v, out);
	}
	/*
	 * DataCollider's authors would not prune this pattern, because a bug of theirs has it (figure 4). So it leads its
	 * class.
	 */
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

void prune_race_among(const struct prune_rules *rules, const struct related *related, const struct race *race,
		      struct verdict *out)
{
	struct view *v = view_new(rules, related, race);

	*out = (struct verdict){.class = VERDICT_UNCLEAR, .rule = "no-benign-pattern", .rank = ranks[VERDICT_UNCLEAR].to};
	if (v)
		judge(v, out);
	else
		verdict_evidence(out, "memory ran out before this race was judged");
	view_free(v);
}
