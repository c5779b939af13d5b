/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of the rules. It has everything about a rule except the rule's code: the pruner applies the rules by this table,
 * `outrider prune --list-rules` prints the table, and SARIF output explains races with it. docs/pruning.md has a row for each
 * rule.
 *
 * The table is constant, so any thread may read it.
 */
#ifndef OUTRIDER_PRUNER_RULES_RULE_H
#define OUTRIDER_PRUNER_RULES_RULE_H

#include <stdbool.h>

#include "pruner/rules/verdict.h"

struct view;

/*
 * The stages in which the rules are tried. The first rule that fits gives the verdict its rule and class. Within a stage, the
 * rules are tried in the order of the table. A rule may have a function in two stages.
 */
enum rule_stage {
	/* The datum belongs to one side at a time: a device has it, or a pointer hands it over. */
	RULE_BY_OWNER,
	/* The code of both sides, or the marks in the kernel's source, prove the pattern. */
	RULE_BY_PROOF,
	/* Lists that people wrote name the datum or the functions. */
	RULE_BY_LIST,
	/* Only the accesses and the values look like a benign pattern, such as a counter of statistics. Nothing proves it. */
	RULE_BY_PATTERN,
	/* The code looks like a protocol of the two sides, but a part of the proof is missing. */
	RULE_BY_DOUBT,
	RULE_STAGES,
};

struct rule {
	/* The rule's name in reports, campaigns and SARIF. It never changes. */
	const char *name;
	/* The class of most of the rule's verdicts. */
	enum verdict_class class;
	/* Explanations for a reader who sees a race on a code-hosting site (by SARIF) and has never used Outrider. */
	struct {
		const char *found; /* What the rule finds: a sentence. */
		/*
		 * The condition under which the class is "unclear" instead of `class`, as text to follow the word "if". NULL:
		 * the class is never "unclear" instead.
		 */
		const char *unclear;
		const char *meaning; /* What the finding means: sentences. */
		const char *next;    /* What to do next: sentences. */
	} help;
	/*
	 * Returns true if the rule fits the race, and then has set class, rule and evidence of *out. The function may set
	 * another rule for a related pattern. NULL: the rule is not tried in this stage. A rule that is tried in no stage is
	 * set by the function of another rule, by the facts of raise.h, by the outcomes of outcome.h, or by a complaint
	 * (complained.h).
	 */
	bool (*apply[RULE_STAGES])(const struct view *v, struct verdict *out);
	/* Points that a verdict of this rule gets in addition to the points of the facts (raise.h). */
	int points;
	/*
	 * Enough instances without a state change (OUTCOME_ENOUGH) refute the rule, if both orders of the kept instance
	 * continued without trouble: an unclear race becomes benign, and a harmful candidate becomes unclear.
	 */
	bool refuted_by_equal_states;
};

extern const struct rule rule_table[RULE_COUNT];

/* Returns the rule's name, such as "safe-flag-update". A string constant. */
const char *rule_name(enum rule_id id);

#endif
