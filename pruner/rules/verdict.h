/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A verdict: the pruner's judgement of one race. */
#ifndef OUTRIDER_PRUNER_RULES_VERDICT_H
#define OUTRIDER_PRUNER_RULES_VERDICT_H

#include <stdbool.h>

enum verdict_class {
	/* A harmful candidate: no benign pattern fits; or a rule, an outcome or a complaint of the kernel shows harm. */
	VERDICT_HARMFUL,
	/* A pattern fits, but it also fits real bugs too often, or the evidence is too weak. */
	VERDICT_UNCLEAR,
	/* Both sides are marked accesses, or a protocol such as RCU orders them. By the kernel's rules this is no race. */
	VERDICT_SYNCHRONISATION,
	/* A benign pattern fits. */
	VERDICT_BENIGN,
};

/* The rules, by their index in rule_table[] (pruner/rules/rule.h). */
enum rule_id {
	RULE_CHANGED_UNDER_WRITE_BACK,
	RULE_DEVICE_NOT_AWAITED,
	RULE_DOUBLE_FETCH,
	RULE_GET_AFTER_LAST_PUT,
	RULE_FREED_UNDER_READERS,
	RULE_REUSED_UNDER_READERS,
	RULE_READER_OUTSIDE_RCU,
	RULE_RCU_PUBLICATION,
	RULE_SEQUENCE_COUNT,
	RULE_HANDED_OVER,
	RULE_RING_QUEUE,
	RULE_NOT_HANDED_OVER,
	RULE_LOCK_WORD,
	RULE_MARKED_ACCESSES,
	RULE_SAFE_FLAG_UPDATE,
	RULE_SAME_FLAG_UPDATE,
	RULE_SPECIAL_VARIABLE,
	RULE_APPROXIMATE_COMPUTATION,
	RULE_BOTH_VALUES_VALID,
	RULE_ONLY_SHOWN,
	RULE_STATISTICS_COUNTER,
	RULE_DOUBLE_CHECKED_LOCKING,
	RULE_SAME_VALUE_WRITES,
	RULE_USER_BUILT_SYNCHRONISATION,
	RULE_LONE_WORD,
	RULE_LONE_FLAG,
	RULE_ONLY_PEEKED,
	RULE_LOCKED_UPDATE,
	RULE_REFERENCE_COUNT,
	RULE_FREED_AFTERWARDS,
	RULE_LOST_UPDATE,
	RULE_NO_COMMON_LOCK,
	RULE_LOCK_ON_ONE_SIDE,
	RULE_POINTER,
	RULE_DANGEROUS_DATUM,
	RULE_VALUE_USED,
	RULE_TORN,
	RULE_INTERRUPT_AGAINST_TASK,
	RULE_ONE_SIDE_MARKED,
	RULE_KERNEL_COMPLAINED,
	RULE_ORDER_CRASHES,
	RULE_STATE_CHANGE,
	RULE_REPLAY_FAILURE,
	RULE_NO_STATE_CHANGE,
	RULE_NO_BENIGN_PATTERN,
	RULE_COUNT,
};

#define VERDICT_EVIDENCE_MAX 1024

struct verdict {
	enum verdict_class class;
	/*
	 * The rule that decided the class. Most rules look at the code and the values. Some are set later: by facts about the
	 * datum, by the outcomes of copies that ran both orders, or by a complaint of the kernel.
	 */
	enum rule_id rule;
	/* 0 to 99. A race with a higher rank is more likely to be harmful. The ranks of two classes do not overlap. */
	int rank;
	/*
	 * The code of a writer shows that the access of this writer is in a section of a sequence count, or is to the count
	 * itself. This decides the group of the race (group_key.h).
	 */
	bool section;
	/* A sentence that a maintainer can check. Printable. */
	char evidence[VERDICT_EVIDENCE_MAX];
};

/* Returns "harmful candidate", "unclear", "synchronisation" or "benign". */
const char *verdict_class_word(enum verdict_class class);

/* Append to the evidence of a verdict, and replace unprintable bytes. Text that does not fit is cut off. */
void verdict_evidence(struct verdict *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
